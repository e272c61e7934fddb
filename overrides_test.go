package murmurate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/internal/race"
	"github.com/murmurate/murmurate/journal"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// keyed is a policy "api" by a user, in two tiers.
func keyed() policy.Policy {
	limit := func(count int64) []limiter.Limit {
		return []limiter.Limit{{Name: "hour", Algorithm: limiter.TokenBucket, Count: count, Period: time.Hour}}
	}
	return policy.Policy{
		Name: "api", Key: []string{"header:X-User | ip"}, Limits: limit(10),
		Tiers: policy.Tiers{By: "attr:plan", Sets: []policy.TierSet{{Name: "pro", Limits: limit(20)}}},
	}
}

var (
	blocked   = policy.Override{Blocked: true}
	unlimited = policy.Override{Unlimited: true}
)

// perHour is an override of the limit of keyed.
func perHour(count int64) policy.Override {
	return policy.Override{Limits: []limiter.Limit{{Name: "hour", Algorithm: limiter.TokenBucket, Count: count, Period: time.Hour}}}
}

func override(t *testing.T, n *murmurate.Node, key string, o policy.Override, expiresIn time.Duration) murmurate.RuntimeOverride {
	t.Helper()
	set, err := n.SetOverride("api", key, o, expiresIn)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// limitOf is what a look at a key says: its limit, "blocked" or "unlimited".
func limitOf(t *testing.T, n *murmurate.Node, key string) string {
	t.Helper()
	d, err := n.Peek(t.Context(), "api", key)
	switch {
	case err != nil && !errors.Is(err, cluster.ErrUnreachable): // a share tells the limit too
		t.Fatal(err)
	case d.Source == limiter.SourceNone:
		return "unlimited"
	case !d.Allowed && d.RetryAfter == limiter.Never:
		return "blocked"
	}
	return fmt.Sprint(d.Limit)
}

func wantLimits(t *testing.T, when string, n *murmurate.Node, want map[string]string) {
	t.Helper()
	for key, limit := range want {
		if got := limitOf(t, n, key); got != limit {
			t.Errorf("%s: the limit of %q is %s, want %s", when, key, got, limit)
		}
	}
}

func alone(t *testing.T, list ...policy.Policy) *murmurate.Node {
	t.Helper()
	return start(t, murmurate.Options{Alone: true, Policies: policies(t, list...)})
}

func TestOverrideHoldsUnderEveryName(t *testing.T) {
	t.Parallel()
	n := alone(t, keyed())
	const plain, made, other = "secret", "header:x-user=secret", "ip=192.0.2.1"
	for _, by := range []string{plain, made, "fp"} {
		override(t, n, plain, perHour(3), 0)
		wantLimits(t, "set", n, map[string]string{plain: "3", made: "3", other: "10"})
		if fp, err := n.Fingerprint("api", made); err != nil || limitOf(t, n, fp) != "3" {
			t.Errorf("by fingerprint: %v", err)
		} else if by == "fp" {
			by = fp
		}
		override(t, n, by, blocked, 0) // the same one, with its names
		wantLimits(t, "changed by "+by, n, map[string]string{plain: "blocked", made: "blocked", other: "10"})
		if o, ok, err := n.Override("api", by); err != nil || !ok || !o.Override.Blocked || o.Override.Key != "" {
			t.Errorf("%s: %+v, %v, %v", by, o, ok, err)
		}
		if was, err := n.RemoveOverride("api", by); err != nil || !was {
			t.Errorf("%s: removed %v, %v", by, was, err)
		}
		want := map[string]string{plain: "10", made: "10", other: "10"}
		wantLimits(t, "removed by "+by, n, want)
		if all := n.Overrides(); len(all) != 0 {
			t.Errorf("removed by %s: %+v are left", by, all)
		}
		if was, err := n.RemoveOverride("api", by); err != nil || was {
			t.Errorf("%s: removed again %v, %v", by, was, err)
		}
	}
	if d, err := n.Check(t.Context(), policy.Request{Policy: "api", Key: made, Peek: true}); err != nil || d.Limit != 10 {
		t.Errorf("afterwards: %+v, %v", d, err)
	}
}

// What is set by the fingerprint of one spelling gives way to what is set for
// the key.
func TestOverrideByFingerprintGivesWay(t *testing.T) {
	t.Parallel()
	n := alone(t, keyed())
	fp, err := n.Fingerprint("api", "secret")
	if err != nil {
		t.Fatal(err)
	}
	set := override(t, n, fp, unlimited, 0)
	if set.Subject.String() != fp {
		t.Errorf("set for %v", set.Subject)
	}
	wantLimits(t, "by fingerprint", n, map[string]string{"secret": "unlimited", "header:x-user=secret": "10"})
	override(t, n, "secret", perHour(3), 0)
	wantLimits(t, "by key", n, map[string]string{"secret": "3", "header:x-user=secret": "3"})
	if all := n.Overrides(); len(all) != 1 {
		t.Errorf("there are %+v", all)
	}
}

// A fingerprint is for those who look. A client that sends another's as its
// key gets nothing of what was set for that one.
func TestFingerprintsAreNotTaken(t *testing.T) {
	t.Parallel()
	n := alone(t, keyed())
	set := override(t, n, "secret", unlimited, 0)
	d, err := n.Allow(t.Context(), "api", set.Subject.String())
	if err != nil || d.Source != limiter.SourceOwner || d.Remaining != 9 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestOverridesInEveryCheck(t *testing.T) {
	t.Parallel()
	n := alone(t, keyed(), policy.Policy{Name: "other", Match: policy.Match{Path: "/other"}, Key: []string{"ip"}, Limits: []limiter.Limit{hourly(5)}})
	override(t, n, "vip", perHour(50), 0)
	override(t, n, "bad", blocked, 0)
	override(t, n, "free", unlimited, 0)
	for _, c := range []struct {
		r         policy.Request
		allowed   bool
		remaining int64
	}{
		{policy.Request{Policy: "api", Key: "vip"}, true, 49},
		{policy.Request{Policy: "api", Attributes: visitor{user: "vip"}}, true, 49}, // its own counter
		{policy.Request{Attributes: visitor{user: "vip"}}, true, 48},
		{policy.Request{Attributes: visitor{user: "vip", plan: "pro"}}, true, 47},
		{policy.Request{Attributes: visitor{user: "somebody", plan: "pro"}}, true, 19},
		{policy.Request{Attributes: visitor{user: "bad", plan: "pro"}}, false, 0},
		{policy.Request{Attributes: visitor{user: "free"}}, true, 0},
		{policy.Request{Attributes: visitor{user: "vip", path: "/other"}}, true, 4}, // and "other"
		{policy.Request{Attributes: visitor{user: "bad", path: "/other"}}, false, 0},
		{policy.Request{Policy: "other", Attributes: visitor{user: "vip"}}, true, 3},
	} {
		d, err := n.Check(t.Context(), c.r)
		if err != nil || d.Allowed != c.allowed || d.Remaining != c.remaining {
			t.Errorf("%+v: allowed %v, %d left, %v", c.r, d.Allowed, d.Remaining, err)
		}
	}
	explained := n.Explain(policy.Request{Attributes: visitor{user: "bad"}})[0]
	if explained.Rule != "override set on alone" || !explained.Applied.Blocked || strings.Contains(explained.Applied.Key, "bad") {
		t.Errorf("explained: %+v", explained)
	}
	if e := n.Explain(policy.Request{Attributes: visitor{user: "somebody"}})[0]; e.Rule != "" {
		t.Errorf("explained: %+v", e)
	}
}

// A wait knows that a bucket leaks because an override says so.
func TestWaitFollowsOverrides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := alone(t, policy.Policy{Name: "p", Limits: []limiter.Limit{hourly(5)}})
		leaky := policy.Override{Limits: []limiter.Limit{{Name: "hour", Algorithm: limiter.LeakyBucket, Count: 1, Period: time.Second, Burst: 5}}}
		if _, err := n.SetOverride("p", "slow", leaky, 0); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := n.Allow(t.Context(), "p", "slow"); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := n.Wait(ctx, "p", "slow"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 0 {
			t.Errorf("after %v: %v, though there are two seconds to wait", time.Since(began), err)
		}
	})
}

func TestOverridesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	everybody := policy.Policy{Name: "everybody", Key: []string{"global"}, Limits: []limiter.Limit{hourly(5)}}
	n := alone(t, keyed(), everybody)
	wide := policy.Override{}
	for i := range 32 {
		wide.Limits = append(wide.Limits, limiter.Limit{Name: fmt.Sprint("hour", i), Algorithm: limiter.TokenBucket, Count: 1, Period: time.Hour})
	}
	kept := policy.Override{Limits: []limiter.Limit{{Name: "hour", Algorithm: limiter.Quota, Count: 1, Period: time.Hour, Durable: true}}}
	fp, err := n.Fingerprint("api", "secret")
	if err != nil {
		t.Fatal(err)
	}
	override(t, n, fp, blocked, 0)
	for _, c := range []struct {
		policy, key string
		o           policy.Override
		expiresIn   time.Duration
		want        string
	}{
		{"apj", "k", blocked, 0, `did you mean "api"?`},
		{"api", "", blocked, 0, "needs a key"},
		{"api", strings.Repeat("k", 2000), blocked, 0, "1024"},
		{"api", "k", policy.Override{}, 0, "needs limits"},
		{"api", "k", policy.Override{Blocked: true, Unlimited: true}, 0, "not several"},
		{"api", "k", policy.Override{Blocked: true, KeyPrefix: "x"}, 0, "key_prefix"},
		{"api", "k", wide, 0, "must be that of one of the policy's limits (hour)"},
		{"api", "k", blocked, -time.Second, "expires_in"},
		{"api", "k", blocked, time.Microsecond, "expires_in"},
		{"api", "k", blocked, 100 * 366 * 24 * time.Hour, "expires_in"},
		{"api", "k", kept, 0, "only a policy says which counters are kept on disk"},
		{"everybody", "k", blocked, 0, `its only key is "global"`},
		{"everybody", fp, blocked, 0, `its only key is "global"`},
	} {
		_, err := n.SetOverride(c.policy, c.key, c.o, c.expiresIn)
		if !errors.Is(err, policy.ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %.20s: %v, want %s", c.policy, c.key, err, c.want)
		}
	}
	if _, err := n.SetOverride("everybody", "global", blocked, 0); err != nil {
		t.Error(err)
	}
	if _, _, err := n.Override("apj", "k"); !errors.Is(err, policy.ErrInput) {
		t.Errorf("looked for in no policy: %v", err)
	}
	if _, err := n.RemoveOverride("apj", "k"); !errors.Is(err, policy.ErrInput) {
		t.Errorf("removed from no policy: %v", err)
	}
	if err := n.SetPolicies(policies(t, keyed(), policy.Policy{Name: "web", Limits: []limiter.Limit{hourly(5)}})); err != nil {
		t.Fatal(err)
	}
	if _, err := n.SetOverride("web", fp, blocked, 0); !errors.Is(err, policy.ErrInput) || !strings.Contains(err.Error(), "belongs to one policy") {
		t.Errorf("another policy's fingerprint: %v", err)
	}
	if all := n.Overrides(); len(all) != 2 || all[0].Policy != "api" || all[1].Policy != "everybody" {
		t.Errorf("there are %+v", all)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := n.SetOverride("api", "k", blocked, 0); !errors.Is(err, murmurate.ErrClosed) {
		t.Errorf("on a closed node: %v", err)
	}
	if _, err := n.RemoveOverride("api", fp); !errors.Is(err, murmurate.ErrClosed) {
		t.Errorf("removed on a closed node: %v", err)
	}
}

// An override stays while policies come and go, and holds for what they have.
func TestOverridesFollowPolicies(t *testing.T) {
	t.Parallel()
	n := alone(t, keyed())
	put := func(list ...policy.Policy) {
		t.Helper()
		if err := n.SetPolicies(policies(t, list...)); err != nil {
			t.Fatal(err)
		}
	}
	override(t, n, "secret", perHour(3), 0)
	two := keyed()
	two.Limits = append(two.Limits, limiter.Limit{Name: "day", Algorithm: limiter.TokenBucket, Count: 100, Period: 24 * time.Hour})
	put(two)
	if d, err := n.Peek(t.Context(), "api", "secret"); err != nil || len(d.Limits) != 2 || d.Limits[0].Limit != 3 || d.Limits[1].Limit != 100 {
		t.Errorf("with one limit more: %+v, %v", d, err)
	}
	renamed := keyed()
	renamed.Limits[0].Name = "other"
	renamed.Tiers = policy.Tiers{}
	put(renamed)
	wantLimits(t, "without its limit", n, map[string]string{"secret": "10"})
	put(policy.Policy{Name: "else", Limits: []limiter.Limit{hourly(1)}})
	if o, ok, err := n.Override("api", "secret"); err != nil || !ok || o.Policy != "api" || len(n.Overrides()) != 1 {
		t.Errorf("without its policy: %+v, %v, %v", o, ok, err)
	}
	put(keyed())
	wantLimits(t, "back", n, map[string]string{"secret": "3", "header:x-user=secret": "3"})
	put(policy.Policy{Name: "else", Limits: []limiter.Limit{hourly(1)}})
	if was, err := n.RemoveOverride("api", "secret"); err != nil || !was || len(n.Overrides()) != 0 {
		t.Errorf("removed without its policy: %v, %v", was, err)
	}
}

// Every field of a limit comes through the disk, and no key goes there.
func TestOverridesOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	set := policies(t, policy.Policy{Name: "api", Key: []string{"header:X-User | ip"}, Limits: []limiter.Limit{
		{Name: "burst", Algorithm: limiter.TokenBucket, Count: 1, Period: time.Second},
		{Name: "month", Algorithm: limiter.FixedWindow, Count: 1, Period: time.Hour, Durable: true},
	}})
	began := func() *murmurate.Node {
		return start(t, murmurate.Options{Alone: true, Name: "n1", Policies: set, DataDir: dir})
	}
	n := began()
	o := policy.Override{Limits: []limiter.Limit{
		{Name: "burst", Algorithm: limiter.LeakyBucket, Count: 7, Period: 3 * time.Second, Burst: 9},
		{Name: "month", Algorithm: limiter.FixedWindow, Count: 1_000_000, Period: 30 * 24 * time.Hour, Align: limiter.AlignCalendar, Calendar: limiter.Month,
			Zone: zone, Anchor: 31, Unit: limiter.Tokens, Durable: true},
	}}
	want := override(t, n, "top-secret-key", o, time.Hour)
	override(t, n, "another-secret-key", blocked, 0)
	if _, err := murmurate.Start(t.Context(), murmurate.Options{Alone: true, DataDir: dir}); !errors.Is(err, journal.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second node in one directory: %v", err)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	n = began()
	got, ok, err := n.Override("api", "top-secret-key")
	if err != nil || !ok || got.Expires <= 0 || got.Expires > time.Hour {
		t.Fatalf("%+v, %v, %v", got, ok, err)
	}
	got.Expires = want.Expires
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || got.Node != "n1" {
		t.Errorf("%+v became %+v", want, got)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "murmurate.db")
	content, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(content), "secret-key") {
		t.Errorf("the file holds keys, or cannot be read: %v", err)
	}
	if err := os.Truncate(file, 10_000); err != nil {
		t.Fatal(err)
	}
	var log lockedBuilder
	n = start(t, murmurate.Options{Alone: true, DataDir: dir, Logger: logTo(&log)})
	if !strings.Contains(log.String(), "the data file is damaged") {
		t.Errorf("the log says %s", log.String())
	}
	if _, err := n.SetOverride("default", "k", blocked, 0); err != nil {
		t.Error(err)
	}
}

// What a later version may say is kept and told, and has no effect here.
func TestOverridesOfALaterVersion(t *testing.T) {
	t.Parallel()
	var log lockedBuilder
	n := start(t, murmurate.Options{Alone: true, Logger: logTo(&log), Policies: policies(t, keyed())})
	for key, value := range map[string]string{
		"unknown": `{"policy":"api","quick":true}`,
		"numbers": `{"policy":"api","limits":[{"name":"hour","algorithm":99,"count":1,"period":1000000000}]}`,
		"zone":    `{"policy":"api","limits":[{"name":"hour","algorithm":3,"count":1,"period":86400000000000,"align":1,"calendar":3,"zone":"Mars/Olympus"}]}`,
		"text":    `policy: api`,
		"more":    `{"policy":"api","blocked":true,"why":"abuse"}`,
	} {
		if err := n.SayOverride("api", key, value); err != nil {
			t.Fatal(err)
		}
	}
	wantLimits(t, "of later versions", n, map[string]string{"unknown": "10", "numbers": "10", "zone": "10", "text": "10", "more": "blocked"})
	if all := n.Overrides(); len(all) != 5 {
		t.Errorf("there are %+v", all)
	}
	if lines := strings.Count(log.String(), "an override cannot be read"); lines != 3 {
		t.Errorf("%d lines in the log:\n%s", lines, log.String())
	}
}

func logTo(log io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(log, nil)) }

// Finding an override, or that there is none, costs a check no memory.
func TestOverridesAllocateNothing(t *testing.T) { // not parallel: others allocate
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	n := alone(t, keyed())
	allocations := func(key string) float64 {
		return testing.AllocsPerRun(1000, func() {
			if _, err := n.Allow(t.Context(), "api", key); err != nil {
				t.Fatal(err)
			}
		})
	}
	without := allocations("k")
	override(t, n, "k", perHour(1_000_000), 0)
	if hit, missed := allocations("k"), allocations("other"); hit > without || missed > without {
		t.Errorf("%v allocations without, %v with and %v beside an override", without, hit, missed)
	}
}
