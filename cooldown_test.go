package murmurate_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// coolingNode runs test with a lone node, whose policies have a cool-down of a
// minute, of attempts too in the second.
func coolingNode(t *testing.T, test func(t *testing.T, n *murmurate.Node)) {
	t.Helper()
	t.Parallel()
	limits := []limiter.Limit{limiter.PerSecond(1)}
	testcluster.Lone(t, test,
		policy.Policy{Name: "login", Cooldown: policy.Cooldown{For: time.Minute}, Limits: limits},
		policy.Policy{Name: "strict", Cooldown: policy.Cooldown{For: time.Minute, Extend: true}, Limits: limits},
		policy.Policy{Name: "tried", Cooldown: policy.Cooldown{For: time.Minute}, Limits: limits, Shadow: true})
}

// What each way to ask sees of a cool-down, and what it does to it.
func TestCooldownOfAPolicy(t *testing.T) {
	coolingNode(t, func(t *testing.T, n *murmurate.Node) {
		ctx := t.Context()
		ask := map[string]func(policyName string) (policy.Decision, error){
			"take": func(p string) (policy.Decision, error) { return n.Allow(ctx, p, "k") },
			"none": func(p string) (policy.Decision, error) { return n.AllowN(ctx, p, "k", 0) },
			"two":  func(p string) (policy.Decision, error) { return n.AllowN(ctx, p, "k", 2) },
			"peek": func(p string) (policy.Decision, error) { return n.Peek(ctx, p, "k") },
			"all": func(p string) (policy.Decision, error) {
				all := n.CheckAll(ctx, []policy.Request{{Policy: p, Key: "k"}, {Policy: p, Key: "k", Peek: true}})
				return all[0].Decision, all[0].Err
			},
			"reset": func(p string) (policy.Decision, error) { return n.Reset(ctx, p, "k") },
		}
		for i, step := range []struct {
			after           time.Duration
			how             string
			plain, extended time.Duration // RetryAfter
		}{
			{how: "take"},
			{how: "peek", plain: time.Second, extended: time.Second},
			{how: "none", plain: time.Second, extended: time.Second},
			{how: "two", plain: limiter.Never, extended: limiter.Never},
			{how: "peek", plain: time.Second, extended: time.Second},
			{how: "take", plain: time.Minute, extended: time.Minute},
			{after: 20 * time.Second, how: "peek", plain: 40 * time.Second, extended: 40 * time.Second},
			{how: "none", plain: 40 * time.Second, extended: 40 * time.Second},
			{how: "all", plain: 40 * time.Second, extended: time.Minute},
			{after: 40 * time.Second, how: "peek", extended: 20 * time.Second},
			{how: "reset"},
			{how: "take"},
		} {
			time.Sleep(step.after)
			for policyName, want := range map[string]time.Duration{"login": step.plain, "strict": step.extended} {
				d, err := ask[step.how](policyName)
				if err != nil || d.RetryAfter != want || d.Allowed != (want == 0) {
					t.Errorf("step %d, %s in %s: %v, %+v; want to wait %v", i, step.how, policyName, err, d, want)
				}
				if denied := d.DeniedBy(); !d.Allowed && (len(denied) != 1 || denied[0] != policyName || d.Remaining != 0) {
					t.Errorf("step %d: denied by %q, %+v", i, denied, d)
				}
			}
			d, err := ask[step.how]("tried")
			if err != nil || !d.Allowed || d.RetryAfter != 0 || d.Limits[0].Allowed != (step.plain == 0) || d.Limits[0].RetryAfter != step.plain {
				t.Errorf("step %d, %s in shadow: %v, %+v", i, step.how, err, d)
			}
		}
	})
}

// Those who wait do not keep themselves out, though all ask at the same time:
// each goes a second after the other. A cool-down that somebody else began is
// waited out.
func TestWhoWaitsBeginsNoCooldown(t *testing.T) {
	coolingNode(t, func(t *testing.T, n *murmurate.Node) {
		for _, policyName := range []string{"login", "strict"} {
			begin := time.Now()
			var calls sync.WaitGroup
			for range 5 {
				calls.Go(func() {
					if _, err := n.Wait(t.Context(), policyName, "k"); err != nil {
						t.Error(err)
					}
				})
			}
			calls.Wait()
			if took := time.Since(begin); took != 4*time.Second {
				t.Errorf("%s: five waited %v", policyName, took)
			}
			if d, err := n.Allow(t.Context(), policyName, "k"); err != nil || d.RetryAfter != time.Minute {
				t.Errorf("%s: %v, %+v", policyName, err, d)
			}
			begin = time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
			if d, err := n.Wait(ctx, policyName, "k"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 0 {
				t.Errorf("%s: a wait that is too short: %v after %v, %+v", policyName, err, time.Since(begin), d)
			}
			cancel()
			if _, err := n.Wait(t.Context(), policyName, "k"); err != nil || time.Since(begin) != time.Minute {
				t.Errorf("%s: %v after %v", policyName, err, time.Since(begin))
			}
		}
	})
}

// The node that owns the key keeps the cool-down, whoever asks, and learns of
// it who is patient.
func TestCooldownIsTheOwners(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	nodes := nodes(t, 2, policies(t, policy.Policy{
		Name: "login", Cooldown: policy.Cooldown{For: day}, Limits: []limiter.Limit{limiter.PerHour(1)}}))
	key := ownedBy(t, nodes[1], "login")
	if d, err := nodes[0].Allow(t.Context(), "login", key); err != nil || !d.Allowed {
		t.Fatalf("%v, %+v", err, d)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if d, err := nodes[0].Wait(ctx, "login", key); !errors.Is(err, context.DeadlineExceeded) || d.RetryAfter > time.Hour {
		t.Errorf("who waits: %v, %+v", err, d)
	}
	if d, err := nodes[0].Allow(t.Context(), "login", key); err != nil || d.RetryAfter != day {
		t.Errorf("the denial that begins it: %v, %+v", err, d)
	}
	for i, node := range nodes {
		d, err := node.Allow(t.Context(), "login", key)
		if err != nil || d.Allowed || d.RetryAfter <= day-time.Hour || d.RetryAfter >= day || d.Source != limiter.SourceOwner {
			t.Errorf("node %d: %v, %+v", i, err, d)
		}
	}
}

// Of the policies that apply to a request the one that denies begins its
// cool-down, and no other: neither one that would have admitted the request,
// nor one that it did not come to, nor one in shadow.
func TestCooldownOfOneOfSeveralPolicies(t *testing.T) {
	t.Parallel()
	cools := policy.Cooldown{For: 2 * time.Hour}
	users := policy.Policy{Name: "user", Key: []string{"header:X-User"}, Cooldown: cools, Limits: []limiter.Limit{hourly(1)}}
	site := policy.Policy{Name: "site", Key: []string{"global"}, Cooldown: cools, Limits: []limiter.Limit{hourly(2)}}
	tried := policy.Policy{Name: "tried", Key: []string{"header:X-User"}, Cooldown: cools, Limits: []limiter.Limit{hourly(1)}, Shadow: true}
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		waits := func() (list [3]string) {
			for i, p := range []string{"user", "site", "tried"} {
				d, err := c.Node("n2").Peek(t.Context(), p, "header:x-user=a")
				if err != nil {
					t.Fatal(err)
				}
				list[i] = d.Limits[0].RetryAfter.Round(time.Minute).String()
			}
			return list
		}
		for i, step := range []struct {
			user    string
			allowed bool
			want    [3]string // how long a is to wait in each policy
		}{
			{"a", true, [3]string{"1h0m0s", "0s", "1h0m0s"}},
			{"a", false, [3]string{"2h0m0s", "0s", "1h0m0s"}},
			{"b", true, [3]string{"2h0m0s", "1h0m0s", "1h0m0s"}},
			{"a", false, [3]string{"2h0m0s", "1h0m0s", "1h0m0s"}}, // the site was not asked
			{"c", false, [3]string{"2h0m0s", "2h0m0s", "1h0m0s"}},
		} {
			d, err := c.Node("n1").Check(t.Context(), policy.Request{Attributes: visitor{user: step.user}})
			if err != nil || d.Allowed != step.allowed {
				t.Errorf("step %d: %v, %+v", i, err, d)
			}
			if got := waits(); got != step.want {
				t.Errorf("step %d: %s, want %s", i, got, step.want)
			}
		}
	}, users, site, tried)
}
