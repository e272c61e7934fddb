package murmurate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Who looks or resets may name a counter by its fingerprint; who takes by that
// is somebody else.
func TestFingerprintsStandForKeys(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true})
	fp, err := node.Fingerprint("default", "anna")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(what string, d policy.Decision, err error, left int64) {
		t.Helper()
		if err != nil || d.Remaining != left {
			t.Errorf("%s: %v, %d left, want %d", what, err, d.Remaining, left)
		}
	}
	d, err := node.AllowN(t.Context(), "default", "anna", 7)
	ask("take", d, err, 93)
	d, err = node.Allow(t.Context(), "default", fp)
	ask("a take by fingerprint", d, err, 99)
	d, err = node.Peek(t.Context(), "default", fp)
	ask("a look", d, err, 93)
	d, err = node.Reset(t.Context(), "default", fp)
	ask("a reset", d, err, 100)
	d, err = node.Peek(t.Context(), "default", "anna")
	ask("after that", d, err, 100)
	mine, _ := node.OwnerOf("default", "anna")
	if theirs, err := node.OwnerOf("default", fp); err != nil || mine != theirs {
		t.Errorf("owners %q and %q (%v)", mine, theirs, err)
	}
	if same, err := node.Fingerprint("default", fp); err != nil || same != fp {
		t.Errorf("the fingerprint of %s is %s (%v)", fp, same, err)
	}
}

// What only begins like a fingerprint is refused to those who look, who have
// mistyped it, and is a key like others to those who take.
func TestSlipsInFingerprints(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true})
	ctx := t.Context()
	for _, key := range []string{"fp:zz", "fp:", "fp:0123"} {
		_, peek := node.Peek(ctx, "default", key)
		_, free := node.AllowN(ctx, "default", key, 0)
		_, reset := node.Reset(ctx, "default", key)
		_, owner := node.OwnerOf("default", key)
		_, print := node.Fingerprint("default", key)
		for what, err := range map[string]error{"peek": peek, "cost 0": free, "reset": reset, "owner": owner, "fingerprint": print} {
			if !errors.Is(err, policy.ErrInput) || !strings.Contains(err.Error(), "32 hexadecimal digits") {
				t.Errorf("%s of %s: %v", what, key, err)
			}
		}
		if d, err := node.Allow(ctx, "default", key); err != nil || d.Remaining != 99 {
			t.Errorf("take of %s: %v, %d left", key, err, d.Remaining)
		}
		if d, err := node.Check(ctx, policy.Request{Policy: "default", DefaultKey: key, Peek: true}); err != nil || d.Remaining != 99 {
			t.Errorf("a look for somebody who will take as %s: %v, %d left", key, err, d.Remaining)
		}
	}
}

// Who waits is looked for under the key that will be charged, whatever it
// looks like.
func TestWaitersAreNoFingerprints(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{{Algorithm: limiter.LeakyBucket, Count: 1, Period: time.Hour, Burst: 5}}
	node := start(t, murmurate.Options{Alone: true, Policies: policies(t, policy.Policy{Name: "p", Limits: limits})})
	fp, err := node.Fingerprint("p", "anna")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := node.Allow(t.Context(), "p", "anna"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := node.Wait(ctx, "p", fp); err != nil {
		t.Errorf("%v, though only anna has to wait", err)
	}
	if _, err := node.WaitN(ctx, "p", fp, 0); err == nil {
		t.Error("who waits to see anna's turn did not have to")
	}
}

// A key of the configuration's overrides is found by its fingerprint with what
// it was given, under the policies in force.
func TestFingerprintsOfOverrides(t *testing.T) {
	t.Parallel()
	rules := func(overrides ...policy.Override) policy.Policy {
		return policy.Policy{Name: "p", Key: []string{"attr:user"}, Limits: []limiter.Limit{hourly(5)}, Overrides: overrides}
	}
	other := policy.Policy{Name: "other", Limits: []limiter.Limit{hourly(7)}, Overrides: []policy.Override{{Key: "free", Unlimited: true}}}
	node := start(t, murmurate.Options{Alone: true, Policies: policies(t, other, rules(
		policy.Override{Key: "bad", Blocked: true},
		policy.Override{Key: "free", Unlimited: true},
		policy.Override{Key: "big", Limits: []limiter.Limit{hourly(50)}},
		policy.Override{KeyPrefix: "test-", Blocked: true},
	))})
	look := func(policyName, fingerprintOf, key string) string {
		t.Helper()
		fp, err := node.Fingerprint(fingerprintOf, key)
		if err != nil {
			t.Fatal(err)
		}
		d, err := node.Peek(t.Context(), policyName, fp)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%t %d of %d %v", d.Allowed, d.Remaining, d.Limit, d.Source)
	}
	for _, c := range []struct{ policy, of, key, want string }{
		{"p", "p", "bad", "false 0 of 5 owner"},
		{"p", "p", "attr:user=bad", "false 0 of 5 owner"},
		{"p", "p", "free", "true 0 of 0 none"},
		{"p", "p", "attr:user=big", "true 50 of 50 owner"},
		{"p", "p", "nobody", "true 5 of 5 owner"},
		{"p", "p", "test-1", "true 5 of 5 owner"}, // which begins with a prefix, but nobody can tell
		{"other", "other", "free", "true 0 of 0 none"},
		{"other", "p", "free", "true 7 of 7 owner"}, // the fingerprint of a counter that is not this policy's
	} {
		if got := look(c.policy, c.of, c.key); got != c.want {
			t.Errorf("%s, fingerprint of %s in %s: %s, want %s", c.policy, c.key, c.of, got, c.want)
		}
	}

	fp, err := node.Fingerprint("p", "attr:user=bad")
	if err != nil {
		t.Fatal(err)
	}
	asked := policy.Request{Attributes: visitor{}, Key: fp, Peek: true}
	if e := node.Explain(asked)[1]; e.Rule != "overrides[0]" || !e.Applied.Blocked || e.Applied.Key != fp {
		t.Errorf("a look explained: %+v", e)
	}
	if d, err := node.Check(t.Context(), asked); err != nil || d.Allowed {
		t.Errorf("a look by attributes: %v, %+v", err, d)
	}
	asked.Peek = false
	if e := node.Explain(asked)[1]; e.Rule != "" || e.Applied.Key == fp {
		t.Errorf("a take explained: %+v", e)
	}

	if err := node.SetPolicies(policies(t, rules(policy.Override{Key: "nobody", Blocked: true}))); err != nil {
		t.Fatal(err)
	}
	if now := look("p", "p", "bad") + ", " + look("p", "p", "nobody"); now != "true 5 of 5 owner, false 0 of 5 owner" {
		t.Errorf("after a reload: %s", now)
	}
}
