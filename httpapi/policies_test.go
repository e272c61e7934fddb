package httpapi

import (
	"net/http"
	"testing"

	"github.com/murmurate/murmurate/policy"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	p := api()
	p.Cost.Default, p.Shadow, p.OnUnreachable = 5, true, policy.Deny
	w := serve(New(Options{Node: newFake(t, policy.Default(), p)}).Handler(), "GET", "/v1/policies", "")
	const want = `{"policies":[` +
		`{"name":"default","limits":[{"name":"default","algorithm":"sliding_window","count":100,"period":"1m"}],"cost":{"default":1},"on_unreachable":"local","shadow":false},` +
		`{"name":"api","limits":[{"name":"burst","algorithm":"token_bucket","count":20,"period":"1s"},{"name":"minute","algorithm":"sliding_window","count":600,"period":"1m"}],` +
		`"cost":{"default":5},"on_unreachable":"deny","shadow":true}]}` + "\n"
	if w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("status %d\n%s\nwant\n%s", w.Code, w.Body, want)
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
