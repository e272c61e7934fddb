package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

// The index leaves out no policy that applies, and changes no order.
func TestIndexAgreesWithTryingAll(t *testing.T) {
	t.Parallel()
	methods := []string{"GET", "POST", "PUT"}
	match := rapid.Custom(func(t *rapid.T) Match {
		return Match{
			Host:   rapid.SampledFrom([]string{"", "", "a.example.com", "B.example.com", "*.example.com"}).Draw(t, "host"),
			Path:   rapid.SampledFrom([]string{"", "/", "/a", "/a/**", "/b/*", "/**", "/{x}/b", "//%61/b", "/**/b", "/*/b/**", "/*/*/*/*/c"}).Draw(t, "path"),
			Method: methods[:rapid.IntRange(0, 3).Draw(t, "methods")],
			Header: rapid.SliceOfN(rapid.SampledFrom([]Field{{"X-A", "1"}, {"x-a", "2"}, {"X-A", ""}, {"X-B", "1"}}), 0, 2).Draw(t, "header"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		var policies []Policy
		for i, m := range rapid.SliceOfN(match, 1, 150).Draw(t, "policies") {
			policies = append(policies, Policy{
				Name: fmt.Sprint("p", i), Match: m, Key: []string{"ip"}, Limits: []limiter.Limit{perMinute("", 1)},
			})
		}
		s, err := NewSet(policies...)
		if err != nil {
			t.Fatal(err)
		}
		r := request{
			method:  rapid.SampledFrom([]string{"", "GET", "POST", "PUT", "HEAD"}).Draw(t, "method"),
			host:    rapid.SampledFrom([]string{"", "A.example.com:80", "b.example.com", "c.example.com", "d"}).Draw(t, "host"),
			path:    rapid.SampledFrom([]string{"", "/", "/a", "/%61/", "/a/b", "/b", "/b/c", "/c/b", "/c/b/a/b/c", "/a;x", "/a/..;/b", "/c/;x/%61%3B/b"}).Draw(t, "path"),
			header:  fields{"X-A": rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "a"), "X-B": "1"},
			repeats: several{"X-A": rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2", "3"}), 0, 2).Draw(t, "more")},
		}
		found, err := s.Match(nil, r, MatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, e := range s.Explain(r, MatchOptions{}) {
			if e.NoMatch == "" {
				want = append(want, e.Policy)
			}
		}
		if got := names(found); !slices.Equal(got, want) {
			t.Fatalf("found %v, want %v", got, want)
		}
	})
}

// hundred are 100 policies of an API as it could be, and a request to which
// three apply: one for the route, one for the address and one for all.
func hundred(tb testing.TB) (*Set, request) {
	tb.Helper()
	limits := []limiter.Limit{perMinute("burst", 100), perMinute("month", 1000)}
	var policies []Policy
	for i := range 98 {
		p := Policy{Name: fmt.Sprint("route", i), Key: []string{"header:X-Api-Key | ip", "path:tenant"}, Limits: limits,
			Match:     Match{Path: fmt.Sprintf("/v1/{tenant}/route%d/**", i), Method: []string{"GET", "POST"}},
			Tiers:     Tiers{By: "header:X-Plan", Sets: []TierSet{{Name: "pro", Limits: limits}}},
			Overrides: []Override{{Key: "ip=10.0.0.1/32", Unlimited: true}, {KeyPrefix: "ip=10.", Limits: limits}},
			Exempt:    []Exemption{{CIDR: "10.0.0.0/8"}},
			Cost:      Cost{ByMethod: []MethodCost{{"POST", 5}}},
		}
		policies = append(policies, p)
	}
	policies = append(policies,
		Policy{Name: "address", Key: []string{"ip"}, Limits: limits},
		Policy{Name: "site", Key: []string{"global"}, Limits: limits})
	s, err := NewSet(policies...)
	if err != nil {
		tb.Fatal(err)
	}
	return s, request{
		method: "POST", host: "api.example.com", path: "/v1/acme/route97/orders/7", ip: "203.0.113.9",
		header: fields{"X-Api-Key": "0123456789abcdef0123456789abcdef", "X-Plan": "pro"},
	}
}

func TestMatchAllocates(t *testing.T) {
	s, r := hundred(t)
	var a Attributes = &constant{r, r.Addr(), r.IPKey()}
	buf := make([]Applied, 0, 4)
	if found, err := s.Match(buf, a, MatchOptions{}); err != nil || !slices.Equal(names(found), []string{"route97", "address", "site"}) {
		t.Fatalf("found %v (%v)", names(found), err)
	}
	if got := testing.AllocsPerRun(100, func() { _, _ = s.Match(buf, a, MatchOptions{}) }); got > 3 {
		t.Errorf("a request that three policies apply to takes %v allocations, want one for each at most", got)
	}
}

// constant is a request whose address is known, as it is to a server.
type constant struct {
	request
	addr netip.Addr
	key  string
}

func (c *constant) Addr() netip.Addr { return c.addr }
func (c *constant) IPKey() string    { return c.key }

// BenchmarkMatch100 resolves one request among 100 policies, each with key,
// tiers, overrides, exemption and cost, of which three apply.
func BenchmarkMatch100(b *testing.B) {
	s, r := hundred(b)
	benchmarkMatch(b, s, &constant{r, r.Addr(), r.IPKey()}, 3)
}

// BenchmarkMatch100Headers tells 99 of 100 policies apart by a header only.
func BenchmarkMatch100Headers(b *testing.B) {
	limits := []limiter.Limit{perMinute("", 1)}
	policies := []Policy{{Name: "site", Key: []string{"global"}, Limits: limits}}
	for i := range 99 {
		policies = append(policies, Policy{Name: fmt.Sprint("tenant", i), Key: []string{"ip"}, Limits: limits,
			Match: Match{Header: []Field{{"X-Tenant", fmt.Sprint(i)}}}})
	}
	s, err := NewSet(policies...)
	if err != nil {
		b.Fatal(err)
	}
	r := request{method: "GET", path: "/", ip: "203.0.113.9", header: fields{"X-Tenant": "98"}}
	benchmarkMatch(b, s, &constant{r, r.Addr(), r.IPKey()}, 2)
}

func benchmarkMatch(b *testing.B, s *Set, a Attributes, want int) {
	buf := make([]Applied, 0, want)
	b.ReportAllocs()
	for b.Loop() {
		if found, err := s.Match(buf, a, MatchOptions{}); err != nil || len(found) != want {
			b.Fatal(len(found), err)
		}
	}
}
