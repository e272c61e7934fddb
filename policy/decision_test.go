package policy

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

// Results to fold.
func admits(remaining int64) limiter.Result {
	return limiter.Result{Allowed: true, Limit: 10, Remaining: remaining}
}

func denies(wait time.Duration) limiter.Result {
	return limiter.Result{Limit: 10, RetryAfter: wait}
}

func from(s limiter.Source, r limiter.Result) limiter.Result {
	r.Source = s
	return r
}

func delayed(d time.Duration, r limiter.Result) limiter.Result {
	r.Delay = d
	return r
}

// planOf has n limits called a, b, c, ...
func planOf(n int, p Policy) *Plan {
	p.Name = "api"
	for i := range n {
		p.Limits = append(p.Limits, perMinute(string(rune('a'+i)), 10))
	}
	return newPlan(&p)
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		policy   Policy
		results  []limiter.Result
		want     limiter.Result
		deniedBy []string
	}{
		{"one admits", Policy{}, []limiter.Result{admits(9)}, admits(9), nil},
		{"one denies", Policy{}, []limiter.Result{denies(time.Second)}, denies(time.Second), []string{"api/a"}},
		{"the fewest remaining", Policy{}, []limiter.Result{admits(9), admits(2), admits(5)}, admits(2), nil},
		{"the first of equals", Policy{}, []limiter.Result{admits(2), from(limiter.SourceShare, admits(2))},
			from(limiter.SourceShare, admits(2)), nil},
		{"a denial before an admission", Policy{}, []limiter.Result{admits(0), denies(time.Second)}, denies(time.Second), []string{"api/b"}},
		{"an admission after a denial", Policy{}, []limiter.Result{denies(time.Second), admits(0)}, denies(time.Second), []string{"api/a"}},
		{"the longest wait", Policy{}, []limiter.Result{denies(time.Second), denies(time.Minute), denies(time.Hour)},
			denies(time.Hour), []string{"api/a", "api/b", "api/c"}},
		{"never is the longest wait", Policy{}, []limiter.Result{denies(time.Hour), denies(limiter.Never), denies(time.Second)},
			denies(limiter.Never), []string{"api/a", "api/b", "api/c"}},
		{"the weakest source", Policy{}, []limiter.Result{from(limiter.SourceShare, admits(9)), admits(2)},
			from(limiter.SourceShare, admits(2)), nil},
		{"every queue's delay", Policy{}, []limiter.Result{delayed(time.Second, admits(9)), delayed(time.Minute, admits(8)), admits(2)},
			delayed(time.Minute, admits(2)), nil},
		{"no delay for a denied call", Policy{}, []limiter.Result{delayed(time.Second, admits(9)), denies(time.Minute)},
			denies(time.Minute), []string{"api/b"}},
		{"shadow admits", Policy{Shadow: true}, []limiter.Result{admits(3), denies(time.Minute)},
			limiter.Result{Allowed: true, Limit: 10}, []string{"api/b"}},
		{"shadow without a denial", Policy{Shadow: true}, []limiter.Result{admits(3)}, admits(3), nil},
	} {
		plan := planOf(len(c.results), c.policy)
		d := plan.Decide(0, c.results)
		if d.Result != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, d.Result, c.want)
		}
		if got := d.DeniedBy(); !slices.Equal(got, c.deniedBy) {
			t.Errorf("%s: denied by %q, want %q", c.name, got, c.deniedBy)
		}
		if d.Denied() != (c.deniedBy != nil) {
			t.Errorf("%s: denied %v", c.name, d.Denied())
		}
		if d.Policy != "api" || d.Shadow != c.policy.Shadow || d.Cost != 1 {
			t.Errorf("%s: policy %q, shadow %v, cost %d", c.name, d.Policy, d.Shadow, d.Cost)
		}
		for i, l := range d.Limits {
			if l.Result != c.results[i] || l.Name != plan.names[i] || l.Window != time.Minute {
				t.Errorf("%s: limit %d is %+v", c.name, i, l)
			}
		}
	}
}

func TestDecideCarriesTheRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ policyCost, cost, want int64 }{{0, 0, 1}, {5, 0, 5}, {5, 3, 3}} {
		d := planOf(1, Policy{Cost: Cost{Default: c.policyCost}, OnUnreachable: Deny}).Decide(c.cost, []limiter.Result{admits(1)})
		if d.Cost != c.want || d.OnUnreachable != Deny {
			t.Errorf("policy's cost %d, asked %d: cost %d, %v", c.policyCost, c.cost, d.Cost, d.OnUnreachable)
		}
	}
}

// The fold does not depend on the order of the limits, up to ties.
func TestDecideInAnyOrder(t *testing.T) {
	t.Parallel()
	result := rapid.Custom(func(t *rapid.T) limiter.Result {
		source := rapid.SampledFrom(limiter.Sources()).Draw(t, "source")
		if rapid.Bool().Draw(t, "allowed") {
			return from(source, admits(rapid.Int64Range(0, 3).Draw(t, "remaining")))
		}
		return from(source, denies(rapid.SampledFrom([]time.Duration{limiter.Never, 1, time.Hour}).Draw(t, "wait")))
	})
	rapid.Check(t, func(t *rapid.T) {
		results := rapid.SliceOfN(result, 1, 6).Draw(t, "results")
		plan := planOf(len(results), Policy{})
		forward := plan.Decide(0, results)
		backward := slices.Clone(results)
		slices.Reverse(backward)
		if got := plan.Decide(0, backward); got.Result != forward.Result {
			t.Fatalf("%+v backward, %+v forward", got.Result, forward.Result)
		}
		if forward.Allowed != (forward.DeniedBy() == nil) {
			t.Fatalf("allowed %v, denied by %v", forward.Allowed, forward.DeniedBy())
		}
	})
}
