package policy

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// compiled makes overrides by key ready for policy "api" of s.
func compiled(t *testing.T, s *Set, overrides map[string]Override) map[string]*CompiledOverride {
	t.Helper()
	all := make(map[string]*CompiledOverride)
	for key, o := range overrides {
		c, err := s.CompileOverride("api", &o)
		if err != nil {
			t.Fatal(err)
		}
		all[key] = c
	}
	return all
}

// byKey is a MatchOptions.Override that finds overrides of "api" by their key.
func byKey(t *testing.T, set map[string]*CompiledOverride) func(policy, key string) *CompiledOverride {
	return func(policy, key string) *CompiledOverride {
		if policy != "api" {
			t.Errorf("asked for policy %s", policy)
		}
		return set[key]
	}
}

func TestOverrideAtRunTime(t *testing.T) {
	t.Parallel()
	s := mustSet(t, tiered())
	o := MatchOptions{Override: byKey(t, compiled(t, s, map[string]Override{
		"k":         {Limits: []limiter.Limit{perMinute("burst", 7), perMinute("gone", 1)}},
		"gone":      {Limits: []limiter.Limit{perMinute("gone", 1)}},
		"slots":     {Limits: []limiter.Limit{{Name: "burst", Algorithm: limiter.Concurrency, Count: 1, Period: time.Minute}}}, // of before it was a rate
		"partner-1": {Blocked: true},
		"free":      {Unlimited: true},
	}))}
	for _, c := range []struct {
		key, tier string
		want      Applied // without Key, Cost, Plan and Tier
		counts    []int64
		rule      string
	}{
		{"k", "", Applied{}, []int64{7, 1000}, "override"},
		{"k", "pro", Applied{}, []int64{7, 1000}, "override"},
		{"k", "Pro", Applied{}, []int64{7, 5000}, "override"},
		{"gone", "pro", Applied{}, []int64{100, 1000}, "override"},
		{"slots", "pro", Applied{}, []int64{100, 1000}, "override"},
		{"partner-1", "Pro", Applied{Blocked: true}, []int64{10, 5000}, "override"},
		{"free", "Pro", Applied{Unlimited: true}, []int64{10, 5000}, "override"},
		{"leaked-key", "Pro", Applied{Blocked: true}, []int64{10, 5000}, "overrides[1]"},
		{"other", "pro", Applied{}, []int64{100, 1000}, ""},
	} {
		o.Key = c.key
		r := request{header: fields{"X-Plan": c.tier}}
		got := apply(t, s, r, o)
		plan := got.Plan
		got.Plan = nil
		c.want.Key, c.want.Cost, c.want.Tier = c.key, 1, c.tier
		if got != c.want || !slices.Equal(counts(plan), c.counts) {
			t.Errorf("%s in tier %q: %+v with %v, want %+v with %v", c.key, c.tier, got, counts(plan), c.want, c.counts)
		}
		if rule := s.Explain(r, o)[0].Rule; rule != c.rule {
			t.Errorf("%s: explained by %q, want %q", c.key, rule, c.rule)
		}
	}
}

// An override outlives the policies that it was made ready for: whoever still
// has it from before a reload gets what it says under those of today.
func TestOverrideOfPoliciesBefore(t *testing.T) {
	t.Parallel()
	set := map[string]Override{"k": {Limits: []limiter.Limit{perMinute("burst", 7), perMinute("month", 70)}}}
	old := compiled(t, mustSet(t, tiered()), set)
	renamed, grown, flat := tiered(), tiered(), tiered()
	renamed.Limits[1].Name, renamed.Tiers, renamed.Overrides = "year", Tiers{}, nil
	grown.Limits = append(grown.Limits, perMinute("day", 500))
	grown.Tiers.Sets = append(grown.Tiers.Sets, TierSet{Name: "max", Limits: []limiter.Limit{perMinute("day", 900)}})
	flat.Limits, flat.Tiers, flat.Overrides = []limiter.Limit{perMinute("", 3)}, Tiers{}, nil
	for _, c := range []struct {
		why    string
		now    Policy
		tier   string
		counts []int64
	}{
		{"the same policy", tiered(), "Pro", []int64{7, 70}},
		{"a limit has another name, and there are no tiers", renamed, "Pro", []int64{7, 1000}},
		{"one more limit, and one more tier", grown, "max", []int64{7, 70, 900}},
		{"none of the limits is left", flat, "", []int64{3}},
	} {
		s := mustSet(t, c.now)
		for when, overrides := range map[string]map[string]*CompiledOverride{"before": old, "after": compiled(t, s, set)} {
			got := apply(t, s, request{header: fields{"X-Plan": c.tier}}, MatchOptions{Key: "k", Override: byKey(t, overrides)})
			if !slices.Equal(counts(got.Plan), c.counts) {
				t.Errorf("%s, compiled %s: %v, want %v", c.why, when, counts(got.Plan), c.counts)
			}
		}
	}
	if _, err := mustSet(t).CompileOverride("api", &Override{Blocked: true}); !errors.Is(err, ErrUnknownPolicy) {
		t.Errorf("a policy that is gone: %v", err)
	}
}

// The caller may go on to use what it gave.
func TestCompiledOverrideIsACopy(t *testing.T) {
	t.Parallel()
	s := mustSet(t, tiered())
	o := Override{Limits: []limiter.Limit{perMinute("burst", 7)}}
	c, err := s.CompileOverride("api", &o)
	if err != nil {
		t.Fatal(err)
	}
	o.Limits[0].Count, o.Blocked = 1, true
	for _, now := range []*Set{s, mustSet(t, tiered())} { // the second compiles it anew
		got := apply(t, now, request{}, MatchOptions{Key: "k", Override: byKey(t, map[string]*CompiledOverride{"k": c})})
		if got.Blocked || counts(got.Plan)[0] != 7 {
			t.Errorf("%+v with %v", got, counts(got.Plan))
		}
	}
}

func TestOverrideCostsNoAllocation(t *testing.T) {
	s := mustSet(t, tiered())
	set := compiled(t, s, map[string]Override{
		"k":    {Limits: []limiter.Limit{perMinute("burst", 7)}},
		"free": {Unlimited: true},
	})
	o := MatchOptions{Override: func(_, key string) *CompiledOverride { return set[key] }}
	buf := make([]Applied, 0, 1)
	for _, key := range []string{"k", "free", "nobody"} {
		r := &Request{Policy: "api", Key: key}
		if allocated := testing.AllocsPerRun(100, func() {
			if _, err := s.Apply(buf, r, o); err != nil {
				t.Error(err)
			}
		}); allocated != 0 {
			t.Errorf("%s: %v allocations", key, allocated)
		}
	}
}
