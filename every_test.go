package murmurate_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// visitor is a request: its path, its user and its plan.
type visitor struct{ path, user, plan string }

func (v visitor) Method() string       { return "GET" }
func (v visitor) Host() string         { return "site.example" }
func (v visitor) Path() string         { return v.path }
func (v visitor) Addr() netip.Addr     { return netip.MustParseAddr("203.0.113.9") }
func (v visitor) IPKey() string        { return "203.0.113.9/32" }
func (v visitor) Cookie(string) string { return "" }
func (v visitor) Query(string) string  { return "" }

func (v visitor) Repeats(policy.KeyKind, string) []string { return nil }

func (v visitor) Header(name string) string {
	if name == "X-User" {
		return v.user
	}
	return ""
}

func (v visitor) Attr(name string) string {
	if name == "plan" {
		return v.plan
	}
	return ""
}

// hourly is a window of an hour from the first request on.
func hourly(count int64) limiter.Limit {
	return limiter.Limit{Name: "hour", Algorithm: limiter.FixedWindow, Count: count, Period: time.Hour, Align: limiter.AlignFirst}
}

// siteRules are a limit for each user and one for the whole site.
func siteRules() []policy.Policy {
	return []policy.Policy{
		{Name: "user", Match: policy.Match{Path: "/shop/**"}, Key: []string{"header:X-User"}, Limits: []limiter.Limit{hourly(5)},
			Exempt: []policy.Exemption{{Match: policy.Match{Path: "/shop/healthz"}}},
			Tiers:  policy.Tiers{By: "attr:plan", Sets: []policy.TierSet{{Name: "pro", Limits: []limiter.Limit{hourly(8)}}}},
			Overrides: []policy.Override{
				{Key: "header:x-user=vip", Unlimited: true},
				{Key: "header:x-user=thief", Blocked: true},
				{KeyPrefix: "header:x-user=test-", Limits: []limiter.Limit{hourly(1)}},
			}},
		{Name: "site", Match: policy.Match{Path: "/shop/**"}, Key: []string{"global"}, Limits: []limiter.Limit{hourly(10)}},
	}
}

// scenario 33: a request that its narrow limit denies leaves the broad one as
// it was, also when the two counters have different owners.
func TestPoliciesOfARequestChargeAllOrNone(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		nodes := c.Nodes()
		apart := 0
		for round := range 100 {
			shop := fmt.Sprintf("/shop/%d", round)
			if _, err := nodes[0].Reset(t.Context(), "site", "any"); err != nil {
				t.Fatal(err)
			}
			user := func(name string) visitor { return visitor{path: shop, user: fmt.Sprint(name, round)} }
			crowd := func(v visitor) (admitted int64) {
				var count atomic.Int64
				var visits sync.WaitGroup
				for i := range 20 {
					visits.Go(func() {
						d, err := nodes[i%3].Check(t.Context(), policy.Request{Attributes: v})
						if err != nil {
							t.Error(err)
						}
						if d.Allowed {
							count.Add(1)
						}
					})
				}
				visits.Wait()
				return count.Load()
			}
			left := func(policyName, key string) int64 {
				d, err := nodes[1].Peek(t.Context(), policyName, key)
				if err != nil {
					t.Fatal(err)
				}
				return d.Remaining
			}
			a, _ := nodes[0].OwnerOf("user", "header:x-user="+user("a").user)
			if site, _ := nodes[0].OwnerOf("site", "any"); site != a {
				apart++
			}
			if got := crowd(user("a")); got != 5 || left("site", "any") != 5 {
				t.Fatalf("round %d: a was admitted %d times, and the site has %d left", round, got, left("site", "any"))
			}
			if got := crowd(user("b")); got != 5 || left("site", "any") != 0 {
				t.Fatalf("round %d: b was admitted %d times, and the site has %d left", round, got, left("site", "any"))
			}
			if got := crowd(user("c")); got != 0 || left("user", "header:x-user="+user("c").user) != 5 {
				t.Fatalf("round %d: c was admitted %d times, and has %d left", round, got, left("user", "header:x-user="+user("c").user))
			}
		}
		if apart == 0 {
			t.Error("the counters never had different owners")
		}
	}, siteRules()...)
}

func TestWhatPoliciesSayOfARequest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why     string
		v       visitor
		times   int // asked, of which
		allowed int // are admitted
		source  limiter.Source
		denied  string // by which limits, in the end
		site    int64  // what the site has left
	}{
		{"a user", visitor{path: "/shop/x", user: "anna"}, 7, 5, limiter.SourceOwner, "user/hour", 5},
		{"a tier", visitor{path: "/shop/x", user: "anna", plan: "pro"}, 9, 8, limiter.SourceOwner, "user/hour", 2},
		{"an unknown tier", visitor{path: "/shop/x", user: "anna", plan: "gold"}, 7, 5, limiter.SourceOwner, "user/hour", 5},
		{"a prefix", visitor{path: "/shop/x", user: "test-1"}, 3, 1, limiter.SourceOwner, "user/hour", 9},
		{"unlimited, but for the site", visitor{path: "/shop/x", user: "vip"}, 12, 10, limiter.SourceOwner, "site/hour", 0},
		{"blocked", visitor{path: "/shop/x", user: "thief"}, 3, 0, limiter.SourceOwner, "user/hour", 10},
		{"exempt, but for the site", visitor{path: "//shop/healthz/", user: "anna"}, 12, 10, limiter.SourceOwner, "site/hour", 0},
		{"nothing applies", visitor{path: "/other", user: "anna"}, 20, 20, limiter.SourceNone, "", 10},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			node := start(t, murmurate.Options{Alone: true, Policies: policies(t, siteRules()...)})
			admitted := 0
			var d policy.Decision
			for range row.times {
				var err error
				if d, err = node.Check(t.Context(), policy.Request{Attributes: row.v}); err != nil {
					t.Fatal(err)
				}
				if d.Allowed {
					admitted++
				}
			}
			if got := strings.Join(d.DeniedBy(), " "); admitted != row.allowed || d.Source != row.source || got != row.denied {
				t.Errorf("admitted %d, by %v, denied by %q", admitted, d.Source, got)
			}
			if row.why == "blocked" && d.RetryAfter != limiter.Never {
				t.Errorf("retry after %v", d.RetryAfter)
			}
			if site, err := node.Peek(t.Context(), "site", "any"); err != nil || site.Remaining != row.site {
				t.Errorf("the site has %d left (%v), want %d", site.Remaining, err, row.site)
			}
		})
	}
}

// A check that only gives a key has no request to match, but has the
// overrides of its key.
func TestOverridesOfAGivenKey(t *testing.T) {
	t.Parallel()
	p := policy.Policy{Name: "api", Limits: []limiter.Limit{hourly(3)}, Cost: policy.Cost{Default: 2}, Overrides: []policy.Override{
		{Key: "leaked", Blocked: true},
		{Key: "partner", Unlimited: true},
		{KeyPrefix: "big-", Limits: []limiter.Limit{hourly(30)}},
	}}
	o := &observer{}
	node := start(t, murmurate.Options{Alone: true, Policies: policies(t, p), Observer: o})
	for key, want := range map[string]struct {
		allowed bool
		left    int64
		source  limiter.Source
	}{
		"anybody": {true, 1, limiter.SourceOwner},
		"leaked":  {false, 0, limiter.SourceOwner},
		"partner": {true, 0, limiter.SourceNone},
		"big-one": {true, 28, limiter.SourceOwner},
	} {
		d, err := node.Allow(t.Context(), "api", key)
		if err != nil || d.Allowed != want.allowed || d.Remaining != want.left || d.Source != want.source || d.Policy != "api" {
			t.Errorf("%s: %v, %+v", key, err, d)
		}
	}
	if got, want := o.String(), "api allowed none 1, api allowed owner 2, api denied owner 1, api over hour 1"; got != want {
		t.Errorf("observed %s, want %s", got, want)
	}
	if _, err := node.Wait(t.Context(), "api", "leaked"); !errors.Is(err, murmurate.ErrNever) {
		t.Errorf("waiting while blocked: %v", err)
	}
}

// Each policy of a request is told of once: those that decided.
func TestPoliciesOfARequestAreObserved(t *testing.T) {
	t.Parallel()
	rules := siteRules()
	rules = append(rules, policy.Policy{Name: "tried", Shadow: true, Key: []string{"global"}, Limits: []limiter.Limit{hourly(1)}})
	o := &observer{}
	node := start(t, murmurate.Options{Alone: true, Policies: policies(t, rules...), Observer: o})
	for range 6 {
		if _, err := node.Check(t.Context(), policy.Request{Attributes: visitor{path: "/shop/x", user: "anna"}}); err != nil {
			t.Fatal(err)
		}
	}
	want := "site allowed owner 5, tried allowed owner 1, tried over hour 5, tried shadow_denied owner 5, " +
		"user allowed owner 5, user denied owner 1, user over hour 1"
	if got := o.String(); got != want {
		t.Errorf("observed %s\nwant %s", got, want)
	}
}

// Of two policies of one request whose owners are away, each fails in its own
// way.
func TestEachPolicyFailsInItsOwnWay(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{hourly(100)}
	for name, row := range map[string]struct {
		modes   [2]policy.Unreachable
		allowed bool
		source  limiter.Source
	}{
		"open and open":   {[2]policy.Unreachable{policy.Allow, policy.Allow}, true, limiter.SourceFailOpen},
		"open and share":  {[2]policy.Unreachable{policy.Allow, policy.Local}, true, limiter.SourceFailOpen},
		"open and closed": {[2]policy.Unreachable{policy.Allow, policy.Deny}, false, limiter.SourceFailClosed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testcluster.Run(t, 2, func(t *testing.T, c *testcluster.Cluster) {
				n1 := c.Node("n1")
				key := ""
				for i := 0; key == ""; i++ {
					key = fmt.Sprint("k", i)
					for _, p := range []string{"a", "b"} {
						if owner, _ := n1.OwnerOf(p, key); owner != "n2" {
							key = ""
							break
						}
					}
				}
				c.Kill("n2")
				time.Sleep(time.Second)
				d, err := n1.Check(t.Context(), policy.Request{Key: key, Attributes: visitor{path: "/"}})
				if err == nil || d.Allowed != row.allowed || d.Source != row.source {
					t.Errorf("%v, %+v", err, d)
				}
			}, policy.Policy{Name: "a", Limits: limits, OnUnreachable: row.modes[0]}, policy.Policy{Name: "b", Limits: limits, OnUnreachable: row.modes[1]})
		})
	}
}

// Whoever explains a request sees fingerprints, and nothing is charged.
func TestExplain(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true, Policies: policies(t, siteRules()...)})
	r := policy.Request{Attributes: visitor{path: "/shop/x", user: "anna", plan: "pro"}}
	all := node.Explain(r)
	want, err := node.Fingerprint("user", "header:x-user=anna")
	if err != nil || len(all) != 2 || all[0].Applied.Key != want || all[0].Applied.Tier != "pro" || all[1].NoMatch != "" {
		t.Errorf("%v, %+v", err, all)
	}
	if other := node.Explain(policy.Request{}); len(other) != 2 || other[0].NoMatch == "" {
		t.Errorf("a request that says nothing: %+v", other)
	}
	if node.Keys() != 0 {
		t.Errorf("%d counters", node.Keys())
	}
}

// A policy keyed by global needs no key of whoever names it, and a default key
// is for policies that have none.
func TestKeysThatNeedNotBeGiven(t *testing.T) {
	t.Parallel()
	rules := append(siteRules(), policy.Policy{Name: "keyless", Limits: []limiter.Limit{hourly(3)}})
	node := start(t, murmurate.Options{Alone: true, Policies: policies(t, rules...)})
	if d, err := node.Check(t.Context(), policy.Request{Policy: "site"}); err != nil || d.Remaining != 9 {
		t.Errorf("global: %v, %+v", err, d)
	}
	if _, err := node.Check(t.Context(), policy.Request{Policy: "keyless"}); !errors.Is(err, policy.ErrInput) {
		t.Errorf("keyless: %v", err)
	}
	v := visitor{path: "/shop/x", user: "anna"}
	if d, err := node.Check(t.Context(), policy.Request{Attributes: v, DefaultKey: "mine"}); err != nil || len(d.Limits) != 3 {
		t.Errorf("%v, %+v", err, d)
	}
	for name, want := range map[string][2]any{"user": {"header:x-user=anna", int64(4)}, "keyless": {"mine", int64(2)}} {
		if d, err := node.Peek(t.Context(), name, want[0].(string)); err != nil || d.Remaining != want[1] {
			t.Errorf("%s: %v, %d left, want %d", name, err, d.Remaining, want[1])
		}
	}
}

// A trial beside an admission is among those who denied, and beside a denial
// that is not its own it is not.
func TestShadowAmongThoseWhoDenied(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true, Policies: policies(t,
		policy.Policy{Name: "tried", Shadow: true, Key: []string{"global"}, Limits: []limiter.Limit{hourly(1)}},
		policy.Policy{Name: "real", Key: []string{"global"}, Limits: []limiter.Limit{hourly(2)}},
	)})
	for i, want := range []string{"[]", "[tried/hour]", "[real/hour]"} {
		d, err := node.Check(t.Context(), policy.Request{Attributes: visitor{path: "/"}})
		if got := fmt.Sprint(d.DeniedBy()); err != nil || got != want || d.Allowed != (i < 2) {
			t.Errorf("request %d: denied by %s, want %s (%v)", i+1, got, want, err)
		}
	}
}
