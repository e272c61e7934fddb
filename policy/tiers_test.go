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

// Who looks at a key without a request may say its tier.
func TestTierOfALook(t *testing.T) {
	t.Parallel()
	s := mustSet(t, tiered(), Policy{Name: "plain", Limits: []limiter.Limit{perMinute("", 1)}})
	for _, c := range []struct {
		why    string
		r      Request
		counts []int64
		fault  string
	}{
		{"none", Request{Policy: "api", Key: "k"}, []int64{10, 1000}, ""},
		{"one", Request{Policy: "api", Key: "k", Tier: "pro"}, []int64{100, 1000}, ""},
		{"and an override", Request{Policy: "api", Key: "test-8", Tier: "Pro"}, []int64{5, 5000}, ""},
		{"an unknown one", Request{Policy: "api", Key: "k", Tier: "por"}, nil, `tier: must be a tier of policy "api" (pro, Pro), got "por" (did you mean "pro"?)`},
		{"of a policy without", Request{Policy: "plain", Key: "k", Tier: "pro"}, nil, `tier: policy "plain" has no tiers: leave it out`},
		{"beside attributes", Request{Policy: "api", Key: "k", Tier: "pro", Attributes: request{}}, nil, "tier: is for a policy that is named"},
		{"without a policy", Request{Key: "k", Tier: "pro", Limit: new(perMinute("", 1))}, nil, "tier: is for a policy that is named"},
	} {
		found, err := s.Apply(nil, &c.r, MatchOptions{})
		if c.fault != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.fault) {
				t.Errorf("%s: %v, want %s", c.why, err, c.fault)
			}
			continue
		}
		if err != nil || len(found) != 1 || found[0].Tier != c.r.Tier || !slices.Equal(counts(found[0].Plan), c.counts) {
			t.Errorf("%s: %+v, %v, want %v", c.why, found, err, c.counts)
		}
	}
}

func TestTierByTheFirstThatTheRequestHas(t *testing.T) {
	t.Parallel()
	p := tiered()
	p.Tiers.By = "attr:plan | header:X-Plan"
	s := mustSet(t, p)
	for _, c := range []struct {
		why  string
		r    request
		tier string
	}{
		{"the first", request{attrs: fields{"plan": "pro"}}, "pro"},
		{"the second", request{header: fields{"X-Plan": "Pro"}}, "Pro"},
		{"both", request{attrs: fields{"plan": "pro"}, header: fields{"X-Plan": "Pro"}}, "pro"},
		{"an unknown one hides the second", request{attrs: fields{"plan": "x"}, header: fields{"X-Plan": "Pro"}}, ""},
		{"neither", request{}, ""},
	} {
		found, err := s.Match(nil, c.r, MatchOptions{Key: "k"})
		if err != nil || len(found) != 1 || found[0].Tier != c.tier {
			t.Errorf("%s: %+v, %v", c.why, found, err)
		}
	}
	for by, want := range map[string]string{
		"attr:plan | attr:plan": "attr:plan is there twice",
		"attr:plan |":           `must be header:NAME or attr:NAME, or several with | between them, got ""`,
	} {
		p.Tiers.By = by
		if lines := faultLines(t, p.Validate()); len(lines) != 1 || lines[0] != "tiers.by: "+want {
			t.Errorf("%s: %q", by, lines)
		}
	}
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
		Policy{Name: "address", Key: []string{"ip"}, Limits: limits},
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
		{"two", "ip=203.0.113.9&method=GET", []string{"ip=203.0.113.9/32&method=GET"}},
		{"address", "203.0.113.9", []string{"203.0.113.9", "ip=203.0.113.9/32"}},
		{"address", "::ffff:203.0.113.9", []string{"::ffff:203.0.113.9", "ip=203.0.113.9/32"}},
		{"address", "2001:0DB8::1", []string{"2001:0DB8::1", "ip=2001:db8::1/128"}},
		{"address", "2001:DB8:0::/64", []string{"2001:DB8:0::/64", "ip=2001:db8::/64"}},
		{"address", "ip=2001:DB8::/64", []string{"ip=2001:db8::/64"}},
		{"address", "fe80::1%eth0", []string{"fe80::1%eth0", "ip=fe80::1%25eth0"}},
		{"address", "unknown", []string{"unknown", "ip=unknown"}},
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

func TestLookupKeys(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{perMinute("", 1)}
	s := mustSet(t, tiered(),
		Policy{Name: "none", Limits: limits},
		Policy{Name: "global", Key: []string{"global"}, Limits: limits},
	)
	fingerprint, long := limiter.Subject{Hi: 1, Lo: 2}.String(), strings.Repeat("k", MaxKeyBytes)
	for _, c := range []struct {
		policy, key string
		want        []string
	}{
		{"api", "a&b", []string{"a&b", "header:x-api-key=a%26b"}},
		{"api", "header:x-api-key=K", []string{"header:x-api-key=K"}},
		{"api", "header:X-Api-Key=K", []string{"header:X-Api-Key=K", "header:x-api-key=K"}}, // checks may give either
		{"api", fingerprint, []string{fingerprint}},
		{"api", long, []string{long, bounded("header:x-api-key=" + long)}}, // the end of long keys is not kept
		{"none", "k", []string{"k"}},
		{"global", "k", []string{"k"}},
	} {
		if got, err := s.LookupKeys(c.policy, c.key); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %.40s: %.100q, want %.100q (%v)", c.policy, c.key, got, c.want, err)
		}
	}
	if _, err := s.LookupKeys("apj", "k"); err == nil {
		t.Error("no error for a policy that does not exist")
	}
}

// An override is found by a key that is too long to be kept, and by its prefix.
func TestOverridesOfLongKeys(t *testing.T) {
	t.Parallel()
	token, session := "Bearer "+strings.Repeat("é&", 1000), strings.Repeat("s", 2000)
	p := Policy{
		Name: "p", Key: []string{"header:Authorization | cookie:session"}, Limits: []limiter.Limit{perMinute("", 1)},
		Overrides: []Override{{Key: token, Blocked: true}, {Key: "cookie:session=" + session, Unlimited: true}, {KeyPrefix: "test-", Unlimited: true}},
	}
	s := mustSet(t, p)
	for _, c := range []struct {
		why                string
		r                  request
		blocked, unlimited bool
	}{
		{"the value", request{header: fields{"Authorization": token}}, true, false},
		{"another value", request{header: fields{"Authorization": token + "x"}}, false, false},
		{"the whole key", request{cookie: fields{"session": session}}, false, true},
		{"the prefix", request{header: fields{"Authorization": "test-" + session}}, false, true},
	} {
		if got := apply(t, s, c.r, MatchOptions{}); got.Blocked != c.blocked || got.Unlimited != c.unlimited {
			t.Errorf("%s: %+v", c.why, got)
		}
	}
	p.Overrides = []Override{{KeyPrefix: strings.Repeat("p", uncutBytes), Blocked: true}}
	if got, want := faultLines(t, p.Validate()), []string{"overrides[0].key_prefix: must be at most 948 bytes as it stands in keys: the end of long keys is not kept"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
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
	want := `tiers.by: must be header:NAME or attr:NAME, or several with | between them, got "ip"
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
	slots := limiter.Limit{Name: "burst", Algorithm: limiter.Concurrency, Count: 5, Period: time.Minute}
	for _, c := range []struct {
		tiers Tiers
		want  string
	}{
		{Tiers{By: "attr:plan", Sets: []TierSet{{Name: "a", Limits: []limiter.Limit{slots}}}}, "tiers.sets[0].limits[0].algorithm: only a concurrency limit can take the place of one, and of no other"},
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
