package httpapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	p := api()
	p.Match = policy.Match{Path: "/v1/**", Method: []string{"GET", "POST"}, Header: []policy.Field{{Name: "X-Beta", Value: "yes"}}}
	p.Key = []string{"header:X-Api-Key | ip"}
	p.Tiers = policy.Tiers{By: "attr:plan", Sets: []policy.TierSet{{Name: "pro", Limits: []limiter.Limit{
		{Name: "burst", Algorithm: limiter.TokenBucket, Count: 200, Period: time.Second}}}}}
	p.Overrides = []policy.Override{{Key: "marked-key", Unlimited: true}, {KeyPrefix: "marked-", Blocked: true}}
	p.Exempt = []policy.Exemption{{CIDR: "10.0.0.0/8"}, {Match: policy.Match{Path: "/healthz"}}}
	p.Cost = policy.Cost{Default: 5, ByMethod: []policy.MethodCost{{Method: "POST", Cost: 7}}, Attr: "units"}
	p.Cooldown = policy.Cooldown{For: 15 * time.Minute, Extend: true}
	p.Shadow, p.OnUnreachable, p.DenyStatus = true, policy.Deny, http.StatusForbidden
	w := serve(New(Options{Node: newFake(t, policy.Default(), p)}).Handler(), "GET", "/v1/policies", "")
	const want = `{"policies":[` +
		`{"name":"default","limits":[{"name":"default","algorithm":"sliding_window","count":100,"period":"1m"}],"overrides":0,"cost":{"default":1},"on_unreachable":"local","shadow":false,"deny_status":429},` +
		`{"name":"api","match":{"path":"/v1/**","method":["GET","POST"],"header":[{"name":"X-Beta","value":"yes"}]},"key":["header:X-Api-Key | ip"],` +
		`"limits":[{"name":"burst","algorithm":"token_bucket","count":20,"period":"1s"},{"name":"minute","algorithm":"sliding_window","count":600,"period":"1m"}],` +
		`"tiers":{"by":"attr:plan","sets":[{"name":"pro","limits":[{"name":"burst","algorithm":"token_bucket","count":200,"period":"1s"}]}]},` +
		`"overrides":2,"exempt":[{"cidr":"10.0.0.0/8"},{"path":"/healthz"}],` +
		`"cost":{"default":5,"by_method":[{"method":"POST","cost":7}],"attr":"units"},"on_unreachable":"deny","shadow":true,"cooldown":{"for":"15m","extend":true},"deny_status":403}]}` + "\n"
	if w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("status %d\n%s\nwant\n%s", w.Code, w.Body, want)
	}
}

// The status that is shown is the one that a denial will have.
func TestShownDenyStatus(t *testing.T) {
	t.Parallel()
	rate := limiter.PerSecond(1).WithName("rate")
	quota := limiter.Limit{Name: "quota", Algorithm: limiter.Quota, Count: 1, Period: time.Hour}
	instead := quota
	instead.Name = "rate"
	for what, c := range map[string]struct {
		policy policy.Policy
		want   int // 0: none
	}{
		"a rate":             {policy.Policy{Limits: []limiter.Limit{rate}}, 429},
		"a quota":            {policy.Policy{Limits: []limiter.Limit{quota}}, 403},
		"both":               {policy.Policy{Limits: []limiter.Limit{rate, quota}}, 0},
		"a quota in a tier":  {policy.Policy{Limits: []limiter.Limit{rate}, Tiers: policy.Tiers{By: "attr:a", Sets: []policy.TierSet{{Name: "t", Limits: []limiter.Limit{instead}}}}}, 0},
		"a quota of one key": {policy.Policy{Limits: []limiter.Limit{rate}, Overrides: []policy.Override{{Key: "k", Limits: []limiter.Limit{instead}}}}, 0},
		"its own":            {policy.Policy{Limits: []limiter.Limit{rate, quota}, DenyStatus: 402}, 402},
	} {
		c.policy.Name = "p"
		got := decoded[struct{ Policies []map[string]any }](t, serve(New(Options{Node: newFake(t, c.policy)}).Handler(), "GET", "/v1/policies", ""))
		status, shown := got.Policies[0]["deny_status"]
		if shown != (c.want != 0) || shown && status != float64(c.want) {
			t.Errorf("%s: %v, want %d", what, status, c.want)
		}
	}
}

// What GET /v1/policies shows can be put into a configuration file.
func TestShownLimitsReadBack(t *testing.T) {
	t.Parallel()
	for _, text := range []policy.LimitSpec{
		{Algorithm: "token_bucket", Rate: "20/s", Burst: new(int64(40))},
		{Algorithm: "leaky_bucket", Rate: "7/250ms"},
		{Algorithm: "sliding_log", Rate: "0/1h30m"},
		{Algorithm: "sliding_window", Rate: "1000/7d"},
		{Algorithm: "concurrency", Count: new(int64(100)), TTL: "90s"},
		{Algorithm: "concurrency", Count: new(int64(7))},
		{Algorithm: "sliding_window", Rate: "1000/month"},
		{Algorithm: "fixed_window", Rate: "5/min"},
		{Algorithm: "fixed_window", Rate: "5/min", Align: "calendar", Timezone: "Asia/Kolkata"},
		{Algorithm: "fixed_window", Rate: "5/24h", Align: "first"},
		{Algorithm: "fixed_window", Rate: "5/day", Align: "epoch"},
		{Algorithm: "fixed_window", Rate: "5/week"},
		{Algorithm: "fixed_window", Rate: "100k/month", Timezone: "America/Sao_Paulo", Anchor: new(int64(31))},
		{Algorithm: "fixed_window", Rate: "5/year", Name: "yearly"},
	} {
		limit, err := text.Limit()
		if err != nil {
			t.Fatalf("%+v: %v", text, err)
		}
		shown := specOf(&limit)
		again, err := shown.Limit()
		if err != nil {
			t.Errorf("%s: %+v: %v", text.Rate, shown, err)
			continue
		}
		if limit.Zone.String() != again.Zone.String() {
			t.Errorf("%s: zone %v became %v", text.Rate, limit.Zone, again.Zone)
		}
		limit.Zone, again.Zone = nil, nil // compared by name: every look-up makes its own
		if limit != again {
			t.Errorf("%s: shown as %+v, read back as %+v, want %+v", text.Rate, shown, again, limit)
		}
	}
}
