package murmurate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// An override that was set at run time gives its key other slots.
func TestOverrideOfSlots(t *testing.T) {
	t.Parallel()
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		two := policy.Override{Limits: atOnce("api", 2).Limits}
		if _, err := n.SetOverride("api", "k", two, 0); err != nil {
			t.Fatal(err)
		}
		acquire(t, n, of("api", "k"))
		acquire(t, n, of("api", "k"))
		acquire(t, n, of("api", "other"))
		for _, key := range []string{"k", "other"} {
			if lease, d, err := n.Acquire(t.Context(), of("api", key)); lease != nil || err != nil || d.Allowed {
				t.Errorf("%s: one too many: %+v, %v", key, d, err)
			}
		}
		if _, err := n.SetOverride("api", "k", policy.Override{Blocked: true}, 0); err != nil {
			t.Fatal(err)
		}
		if _, d, err := n.WaitAcquire(t.Context(), of("api", "k")); err == nil || d.RetryAfter != limiter.Never {
			t.Errorf("blocked: %+v, %v", d, err)
		}
	}, atOnce("api", 1))
}

// Who is denied a slot brings on the policy's cool-down, and who waits for one
// does not.
func TestCooldownOfSlots(t *testing.T) {
	t.Parallel()
	p := atOnce("api", 1)
	p.Cooldown.For = time.Minute
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		first := acquire(t, n, of("api", "k"))
		waited := make(chan murmurate.Lease, 1)
		go func() {
			lease, _, err := n.WaitAcquire(t.Context(), of("api", "k"))
			if err != nil {
				t.Error(err)
			}
			waited <- lease
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		release(t, first)
		began := time.Now()
		second := <-waited
		if took := time.Since(began); took > time.Second {
			t.Errorf("who waited got the slot %v after it was free", took)
		}
		if _, d, err := n.Acquire(t.Context(), of("api", "k")); err != nil || !d.Limits[0].Cooling {
			t.Errorf("a denial: %+v, %v", d, err)
		}
		release(t, second)
		if _, d, err := n.Acquire(t.Context(), of("api", "k")); err != nil || d.Allowed || d.RetryAfter != time.Minute {
			t.Errorf("a slot that is free during the cool-down: %+v, %v", d, err)
		}
		time.Sleep(time.Minute)
		acquire(t, n, of("api", "k"))
	}, p)
}

// Who waits for a slot is looked for under the key that will be charged, by
// whatever it is given.
func TestWaitersForSlotsAreLookedFor(t *testing.T) {
	t.Parallel()
	p := atOnce("api", 1)
	p.Key = []string{"attr:user"}
	slots := atOnce("own", 1).Limits[0]
	for name, r := range map[string]policy.Request{
		"a key":                    {Policy: "api", Key: "k"},
		"a default key":            {Policy: "plain", DefaultKey: "k"},
		"a key beside attributes":  {Policy: "api", Key: "k", Attributes: visitor{user: "anna"}},
		"attributes":               {Attributes: visitor{user: "anna"}, DefaultKey: "k"},
		"a limit":                  {Key: "k", Limit: &slots},
		"what reads as a finger":   {Policy: "plain", Key: limiter.Subject{Hi: 1, Lo: 2}.String()},
		"such as a default key is": {Policy: "plain", DefaultKey: limiter.Subject{Hi: 1, Lo: 2}.String()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
				first := acquire(t, n, r)
				time.AfterFunc(time.Second, func() { _ = first.Release(context.WithoutCancel(t.Context())) })
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				began := time.Now()
				_, _, err := n.WaitAcquire(ctx, r)
				if took := time.Since(began); err != nil || took < time.Second || took > 2*time.Second {
					t.Errorf("%v after %v", err, took)
				}
			}, p, atOnce("plain", 1))
		})
	}
}
