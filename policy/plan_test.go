package policy

import (
	"slices"
	"testing"

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
	if l := &d.Limits[1]; l.Unit != UnitConcurrentRequests || l.Window != 0 || d.Limits[0].Unit != UnitRequests || d.Limits[0].Window == 0 {
		t.Errorf("limits %+v", d.Limits)
	}
	if !plan.Concurrency() || newPlan(&Policy{Name: "api", Limits: []limiter.Limit{perMinute("a", 1)}}).Concurrency() {
		t.Error("a plan does not know whether it has slots")
	}
}
