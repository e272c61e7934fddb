package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func TestLimitNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		limits []limiter.Limit
		want   []string
	}{
		{"a lone limit without a name", []limiter.Limit{perMinute("", 1)}, []string{"api"}},
		{"a lone limit called as its policy", []limiter.Limit{perMinute("api", 1)}, []string{"api"}},
		{"a lone limit with a name", []limiter.Limit{perMinute("minute", 1)}, []string{"api/minute"}},
		{"several", []limiter.Limit{perMinute("api", 1), perMinute("b", 1)}, []string{"api/api", "api/b"}},
	} {
		if got := newPlan(&Policy{Name: "api", Limits: c.limits}).names; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCharges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policyCost, cost, want int64
	}{
		{0, 0, 1},
		{5, 0, 5},
		{0, 3, 3},
		{5, 3, 3},
	} {
		plan := newPlan(&Policy{Name: "api", Cost: Cost{Default: c.policyCost}, Limits: []limiter.Limit{perMinute("a", 1), perMinute("b", 2)}})
		before := []limiter.Charge{{Cost: 99}}
		got := plan.Charges(before, c.cost)
		if len(got) != 3 || got[0].Cost != 99 {
			t.Fatalf("Charges did not append: %+v", got)
		}
		for i, charge := range got[1:] {
			if charge.Cost != c.want || charge.Limit.Count != int64(i+1) || charge.Tag != charge.Limit.Tag() {
				t.Errorf("policy's cost %d, asked %d: charge %+v, want cost %d", c.policyCost, c.cost, charge, c.want)
			}
		}
		if again := plan.Charges(nil, 0)[0].Cost; again != plan.policy.cost() {
			t.Errorf("one request's cost stayed in the plan: %d", again)
		}
	}
}

// Every limit of a policy has its cool-down, those of tiers and overrides too.
func TestChargesOfACooldown(t *testing.T) {
	t.Parallel()
	other := []limiter.Limit{perMinute("a", 9)}
	set, err := NewSet(
		Policy{
			Name: "cools", Cooldown: Cooldown{For: time.Minute, Extend: true}, Key: []string{"attr:user"},
			Limits:    []limiter.Limit{perMinute("a", 1), perMinute("b", 2)},
			Tiers:     Tiers{By: "attr:plan", Sets: []TierSet{{Name: "pro", Limits: other}}},
			Overrides: []Override{{Key: "partner", Limits: other}},
		},
		Policy{Name: "does-not", Limits: []limiter.Limit{perMinute("", 1)}},
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]Request{
		"alone":             {Policy: "cools", Key: "k"},
		"tier":              {Policy: "cools", Attributes: request{attrs: map[string]string{"user": "u", "plan": "pro"}}},
		"override":          {Policy: "cools", Key: "partner"},
		"another policy":    {Policy: "does-not", Key: "k"},
		"a limit of theirs": {Key: "k", Limit: &other[0]},
	} {
		applied, err := set.Apply(nil, &r, MatchOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := time.Minute
		if r.Policy != "cools" {
			want = 0
		}
		for _, c := range applied[0].Plan.Charges(nil, 0) {
			if c.Cooldown != want || c.Extend != (want > 0) {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// The lone limit of a policy keeps its counter whether it is named as its
// policy or not at all.
func TestLoneLimitIsOneCounter(t *testing.T) {
	t.Parallel()
	tag := func(name string) uint64 {
		return newPlan(&Policy{Name: "api", Limits: []limiter.Limit{perMinute(name, 1)}}).Charges(nil, 0)[0].Tag
	}
	if tag("") != tag("api") || tag("") == tag("other") {
		t.Errorf("tags: unnamed %x, named as the policy %x, named otherwise %x", tag(""), tag("api"), tag("other"))
	}
}

// A concurrency limit has one slot for a request, whatever it costs.
func TestSlotsCostOne(t *testing.T) {
	t.Parallel()
	slots := limiter.Limit{Name: "slots", Algorithm: limiter.Concurrency, Count: 5, Period: limiter.DefaultTTL}
	plan := newPlan(&Policy{Name: "api", Cost: Cost{Default: 3}, Limits: []limiter.Limit{perMinute("a", 10), slots}})
	for cost, want := range map[int64]int64{0: 3, 7: 7} {
		if got := plan.Charges(nil, cost); got[0].Cost != want || got[1].Cost != 1 {
			t.Errorf("cost %d: charges %d and %d, want %d and 1", cost, got[0].Cost, got[1].Cost, want)
		}
	}
	d := plan.Decide(7, []limiter.Result{{Allowed: true}, {Allowed: true}})
	if l := &d.Limits[1]; l.Unit != limiter.ConcurrentRequests || l.Window != 0 || d.Limits[0].Unit != limiter.Requests || d.Limits[0].Window == 0 {
		t.Errorf("limits %+v", d.Limits)
	}
	if !plan.Concurrency() || newPlan(&Policy{Name: "api", Limits: []limiter.Limit{perMinute("a", 1)}}).Concurrency() {
		t.Error("a plan does not know whether it has slots")
	}
}
