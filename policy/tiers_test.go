package policy

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// tiered has a limit that tiers and overrides replace, and one that they do not.
func tiered() Policy {
	return Policy{
		Name: "api", Key: []string{"header:X-Api-Key | ip"},
		Limits: []limiter.Limit{perMinute("burst", 10), perMinute("month", 1000)},
		Tiers: Tiers{By: "header:X-Plan", Sets: []TierSet{
			{Name: "pro", Limits: []limiter.Limit{perMinute("burst", 100)}},
			{Name: "Pro", Limits: []limiter.Limit{perMinute("month", 5000)}},
		}},
		Overrides: []Override{
			{Key: "partner-1", Unlimited: true},
			{Key: "leaked-key", Blocked: true},
			{Key: "ip=203.0.113.9/32", Limits: []limiter.Limit{perMinute("burst", 3)}},
			{Key: "header:X-Api-Key=test-7", Unlimited: true},
			{KeyPrefix: "test-", Limits: []limiter.Limit{perMinute("burst", 5)}},
			{KeyPrefix: "test-slow-", Limits: []limiter.Limit{perMinute("burst", 1)}},
		},
	}
}

// counts are the counts of a plan's limits, in order.
func counts(p *Plan) []int64 {
	var list []int64
	for _, c := range p.Charges(nil, 0) {
		list = append(list, c.Limit.Count)
	}
	return list
}

func TestTiersAndOverrides(t *testing.T) {
	t.Parallel()
	s := mustSet(t, tiered())
	key := func(k string) fields { return fields{"X-Api-Key": k} }
	for _, c := range []struct {
		why    string
		r      request
		given  string
		want   Applied // without Plan
		counts []int64
		rule   string
	}{
		{"no tier", request{header: key("k")}, "", Applied{Key: "header:x-api-key=k"}, []int64{10, 1000}, ""},
		{"a tier", request{header: fields{"X-Plan": "pro"}}, "k", Applied{Key: "k", Tier: "pro"}, []int64{100, 1000}, ""},
		{"a tier in another case", request{header: fields{"X-Plan": "Pro"}}, "k", Applied{Key: "k", Tier: "Pro"}, []int64{10, 5000}, ""},
		// scenario 64
		{"an unknown tier", request{header: fields{"X-Plan": "gold"}}, "k", Applied{Key: "k", UnknownTier: true}, []int64{10, 1000}, ""},
		{"unlimited", request{header: key("partner-1")}, "", Applied{Key: "header:x-api-key=partner-1", Unlimited: true}, []int64{10, 1000}, "overrides[0]"},
		{"unlimited by a given key", request{}, "partner-1", Applied{Key: "partner-1", Unlimited: true}, []int64{10, 1000}, "overrides[0]"},
		{"blocked", request{header: key("leaked-key")}, "", Applied{Key: "header:x-api-key=leaked-key", Blocked: true}, []int64{10, 1000}, "overrides[1]"},
		{"an address", request{ip: "203.0.113.9"}, "", Applied{Key: "ip=203.0.113.9/32"}, []int64{3, 1000}, "overrides[2]"},
		{"a header that holds the address", request{header: key("203.0.113.9/32")}, "", Applied{Key: "header:x-api-key=203.0.113.9/32"}, []int64{10, 1000}, ""},
		{"a whole key before prefixes", request{header: key("test-7")}, "", Applied{Key: "header:x-api-key=test-7", Unlimited: true}, []int64{10, 1000}, "overrides[3]"},
		{"a prefix", request{header: key("test-8")}, "", Applied{Key: "header:x-api-key=test-8"}, []int64{5, 1000}, "overrides[4]"},
		{"the prefix itself", request{header: key("test-")}, "", Applied{Key: "header:x-api-key=test-"}, []int64{5, 1000}, "overrides[4]"},
		{"less than the prefix", request{header: key("test")}, "", Applied{Key: "header:x-api-key=test"}, []int64{10, 1000}, ""},
		{"the longest prefix", request{header: key("test-slow-1")}, "", Applied{Key: "header:x-api-key=test-slow-1"}, []int64{1, 1000}, "overrides[5]"},
		{"a prefix of a given key", request{}, "test-9", Applied{Key: "test-9"}, []int64{5, 1000}, "overrides[4]"},
		{"an override over a tier", request{header: fields{"X-Plan": "Pro"}}, "test-9", Applied{Key: "test-9", Tier: "Pro"}, []int64{5, 5000}, "overrides[4]"},
	} {
		got := apply(t, s, c.r, MatchOptions{Key: c.given})
		plan := got.Plan
		got.Plan, c.want.Cost = nil, 1
		if got != c.want || !slices.Equal(counts(plan), c.counts) {
			t.Errorf("%s: %+v with %v, want %+v with %v", c.why, got, counts(plan), c.want, c.counts)
		}
		if rule := s.Explain(c.r, MatchOptions{Key: c.given})[0].Rule; rule != c.rule {
			t.Errorf("%s: explained by %q, want %q", c.why, rule, c.rule)
		}
	}
}

// A counter is the same in every tier: an upgrade or a downgrade does not
// forgive what was spent.
func TestTiersKeepTheCounter(t *testing.T) {
	t.Parallel()
	s := mustSet(t, tiered())
	tags := func(plan string) (list []uint64) {
		for _, c := range apply(t, s, request{header: fields{"X-Plan": plan}}, MatchOptions{Key: "k"}).Plan.Charges(nil, 0) {
			list = append(list, c.Tag)
		}
		return list
	}
	for _, plan := range []string{"pro", "Pro", "gold"} {
		if !slices.Equal(tags(plan), tags("")) {
			t.Errorf("tier %s has counters of its own", plan)
		}
	}
}

func TestCheckOverride(t *testing.T) {
	t.Parallel()
	lone := Policy{Name: "lone", Limits: []limiter.Limit{perMinute("", 1)}}
	dear := tiered()
	dear.Name, dear.Cost.Default, dear.Overrides = "dear", 5, nil
	s := mustSet(t, tiered(), lone, dear)
	for _, c := range []struct {
		policy string
		o      Override
		want   string
	}{
		{"api", Override{Key: "k", Limits: []limiter.Limit{perMinute("burst", 1)}}, ""},
		{"lone", Override{Key: "k", Limits: []limiter.Limit{perMinute("", 5)}}, ""},
		{"lone", Override{Key: "k", Limits: []limiter.Limit{perMinute("lone", 5)}}, ""},
		{"api", Override{Key: "k", Limits: []limiter.Limit{perMinute("brust", 1)}},
			`override.limits[0].name: must be that of one of the policy's limits (burst, month), got "brust" (did you mean "burst"?)`},
		{"api", Override{Key: "k", Limits: []limiter.Limit{perMinute("", 1)}}, "override.limits[0].name: is required: which of the policy's limits it replaces (burst, month)"},
		{"api", Override{KeyPrefix: "k", Blocked: true}, "override.key_prefix: only the configuration has overrides for prefixes: give the whole key"},
		{"api", Override{}, "override: needs a key, or key_prefix for several: whom it is for\noverride: needs limits, or unlimited: true, or blocked: true"},
		{"dear", Override{Key: "k", Limits: []limiter.Limit{perMinute("burst", 4), perMinute("month", 5)}},
			`override.limits: the policy's cost.default of 5 is more than limit "burst" can ever hold (4)`},
		{"dear", Override{Key: "k", Limits: []limiter.Limit{perMinute("burst", 0)}}, ""},
		{"apj", Override{Key: "k", Blocked: true}, `policy: there is no policy "apj" (did you mean "api"?)`},
	} {
		if got := strings.Join(faultLines(t, s.CheckOverride(c.policy, &c.o)), "\n"); got != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.o, got, c.want)
		}
	}
}

func TestOverrideKeys(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{perMinute("", 1)}
	s := mustSet(t, tiered(),
		Policy{Name: "two", Key: []string{"ip", "method"}, Limits: limits},
		Policy{Name: "none", Limits: limits},
		Policy{Name: "global", Key: []string{"global"}, Limits: limits},
	)
	for _, c := range []struct {
		policy, key string
		want        []string
	}{
		{"api", "a&b", []string{"a&b", "header:x-api-key=a%26b"}},
		{"api", "header:X-Api-Key=K&path:A=header:B", []string{"header:x-api-key=K&path:A=header:B"}},
		{"api", "header:X-Api-Key", []string{"header:x-api-key"}},
		{"two", "k", []string{"k"}},
		{"none", "k", []string{"k"}},
		{"global", "global", []string{"global"}},
	} {
		if got, err := s.OverrideKeys(c.policy, c.key); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, want %q (%v)", c.policy, c.key, got, c.want, err)
		}
	}
	if _, err := s.OverrideKeys("apj", "k"); err == nil {
		t.Error("no error for a policy that does not exist")
	}
}

func TestTierAndOverrideFaults(t *testing.T) {
	t.Parallel()
	p := tiered()
	p.Cost.Default = 3
	p.Tiers = Tiers{By: "ip", Sets: []TierSet{
		{Name: "a b"},
		{Name: "low", Limits: []limiter.Limit{perMinute("burst", 2), perMinute("burst", 5), {Name: "month", Algorithm: limiter.SlidingLog, Period: time.Hour, Count: -1}}},
		{Name: "low", Limits: []limiter.Limit{perMinute("x", 2)}},
	}}
	p.Overrides = []Override{
		{Key: "a", KeyPrefix: "b", Blocked: true},
		{Key: "c", Unlimited: true, Limits: []limiter.Limit{perMinute("month", 2)}},
		{Key: "c", Unlimited: true},
		{Key: "header:x-api-key=c", Blocked: true},
		{KeyPrefix: "c", Limits: []limiter.Limit{perMinute("mont", 2)}},
	}
	want := `tiers.by: must be header:NAME or attr:NAME, got "ip"
tiers.sets[0].name: ` + NameRule + `, got "a b"
tiers.sets[0].limits: a tier needs at least one limit that replaces one of the policy's
tiers.sets[1].limits[1].name: "burst" is replaced already
tiers.sets[1].limits[2].count: must be 0 to 1000000000000000
cost.default: 3 is more than limit "burst" can ever hold (2) in tier "low"
tiers.sets[2].name: "low" is already the name of another tier of this policy
tiers.sets[2].limits[0].name: must be that of one of the policy's limits (burst, month), got "x"
overrides[0]: give either key or key_prefix, not both
overrides[1]: give one of limits, unlimited: true and blocked: true, not several
cost.default: 3 is more than limit "month" can ever hold (2) in overrides[1]
overrides[2].key: is in overrides[1] already
overrides[3].key: is in overrides[1] already
overrides[4].limits[0].name: must be that of one of the policy's limits (burst, month), got "mont" (did you mean "month"?)
cost.default: 3 is more than limit "mont" can ever hold (2) in overrides[4]`
	if got := strings.Join(faultLines(t, p.Validate()), "\n"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for _, c := range []struct {
		tiers Tiers
		want  string
	}{
		{Tiers{By: "attr:plan"}, "tiers.sets: is required beside by: at least one tier with a name and limits"},
		{Tiers{Sets: []TierSet{{Name: "a", Limits: []limiter.Limit{perMinute("burst", 5)}}}}, "tiers.by: is required beside sets: where a request says its tier, such as header:X-Plan or attr:plan"},
		{Tiers{By: "attr:", Sets: []TierSet{{Name: "a", Limits: []limiter.Limit{perMinute("burst", 5)}}}}, `tiers.by: attr needs a name without spaces and |, got ""`},
	} {
		p := tiered()
		p.Tiers = c.tiers
		if got := strings.Join(faultLines(t, p.Validate()), "\n"); got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
}
