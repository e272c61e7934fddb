package policy

import (
	"reflect"
	"testing"

	"github.com/murmurate/murmurate/limiter"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{perMinute("", 1)}
	s := mustSet(t,
		Policy{Name: "search", Match: Match{Path: "/search"}, Key: []string{"header:x-api-key | cookie:session | ip", "method"}, Limits: limits},
		Policy{Name: "orders", Match: Match{Path: "/orders"}, Key: []string{"ip"}, Limits: limits},
		Policy{Name: "site", Key: []string{"global"}, Limits: limits},
		Policy{Name: "probes", Key: []string{"ip"}, Exempt: []Exemption{{CIDR: "203.0.113.0/24"}}, Limits: limits},
	)
	r := request{method: "GET", path: "/search", ip: "203.0.113.9", cookie: fields{"session": "s"}}
	plan := func(name string) *Plan {
		return s.byName[name].plans[0]
	}
	for _, c := range []struct {
		why   string
		given string
		want  []Explanation
	}{
		{"keys made of the request", "", []Explanation{
			{Policy: "search", KeyFrom: []string{"cookie:session", "method"}, Applied: Applied{Plan: plan("search"), Key: "cookie:session=s&method=GET", Cost: 1}},
			{Policy: "orders", NoMatch: "path: is not /orders"},
			{Policy: "site", KeyFrom: []string{"global"}, Applied: Applied{Plan: plan("site"), Key: "global", Cost: 1}},
			{Policy: "probes", Rule: "exempt[0]", Applied: Applied{Plan: plan("probes"), Exempt: true}},
		}},
		{"a key that was given", "k", []Explanation{
			{Policy: "search", Applied: Applied{Plan: plan("search"), Key: "k", Cost: 1}},
			{Policy: "orders", NoMatch: "path: is not /orders"},
			{Policy: "site", KeyFrom: []string{"global"}, Applied: Applied{Plan: plan("site"), Key: "global", Cost: 1}},
			{Policy: "probes", Rule: "exempt[0]", Applied: Applied{Plan: plan("probes"), Exempt: true}},
		}},
	} {
		if got := s.Explain(r, MatchOptions{Key: c.given}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.why, got, c.want)
		}
	}
	r.cookie, r.header = nil, fields{"X-Api-Key": "k"}
	if got := s.Explain(r, MatchOptions{})[0].KeyFrom; !reflect.DeepEqual(got, []string{"header:X-Api-Key", "method"}) {
		t.Errorf("the key is from %v", got)
	}
}
