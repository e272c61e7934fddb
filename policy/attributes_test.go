package policy

import (
	"net/netip"
	"testing"

	"github.com/murmurate/murmurate/limiter"
)

// request is a request for tests, and its zero value is one from nowhere.
type request struct {
	method, host, path, ip       string
	header, cookie, query, attrs map[string]string
	repeats                      map[string][]string // by name: of headers and parameters
}

func (r request) Method() string            { return r.method }
func (r request) Host() string              { return r.host }
func (r request) Path() string              { return r.path }
func (r request) Header(name string) string { return r.header[name] }
func (r request) Cookie(name string) string { return r.cookie[name] }
func (r request) Query(name string) string  { return r.query[name] }
func (r request) Attr(name string) string   { return r.attrs[name] }

func (r request) Repeats(_ KeyKind, name string) []string { return r.repeats[name] }

func (r request) Addr() netip.Addr {
	addr, _ := netip.ParseAddr(r.ip) // none is the zero Addr
	return addr
}

func (r request) IPKey() string {
	if r.ip == "" {
		return "unknown"
	}
	return r.ip + "/32"
}

// names says which policies apply.
func names(found []Applied) []string {
	var list []string
	for i := range found {
		list = append(list, found[i].Plan.Policy().Name)
	}
	return list
}

// apply is what the only policy that applies to r says.
func apply(t *testing.T, s *Set, r request, o MatchOptions) Applied {
	t.Helper()
	found, err := s.Match(nil, r, o)
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v: %v (%v)", r, names(found), err)
	}
	return found[0]
}

type fields = map[string]string

type several = map[string][]string

// What is there several times, with different values, makes no key and no tier,
// and an exemption goes by all of them.
func TestRepeatedFields(t *testing.T) {
	t.Parallel()
	s := mustSet(t, Policy{
		Name: "p", Key: []string{"query:account | cookie:c | header:X-Api-Key"}, Limits: []limiter.Limit{perMinute("", 1)},
		Tiers:  Tiers{By: "header:X-Plan", Sets: []TierSet{{Name: "pro", Limits: []limiter.Limit{perMinute("", 5)}}}},
		Exempt: []Exemption{{Match: Match{Query: []Field{{"probe", "1"}}, Header: []Field{{"X-Internal", ""}}}}},
	})
	all := request{query: fields{"account": "a"}, cookie: fields{"c": "c"}, header: fields{"X-Api-Key": "k", "X-Plan": "pro"}}
	probe := request{query: fields{"probe": "1"}, header: fields{"X-Internal": "a"}}
	for _, c := range []struct {
		why     string
		r       request
		repeats several
		key     string
		tier    string
		exempt  bool
	}{
		{"once", all, nil, "query:account=a", "pro", false},
		{"the same again", all, several{"account": {"a", "a"}, "X-Plan": {"pro\t"}}, "query:account=a", "pro", false},
		{"another parameter", all, several{"account": {"b"}}, "cookie:c=c", "pro", false},
		{"no value before another", request{query: fields{"account": ""}}, several{"account": {"b"}}, "header:x-api-key", "", false},
		{"no value behind another", request{query: fields{"account": "b"}}, several{"account": {""}}, "header:x-api-key", "", false},
		{"and another cookie", all, several{"account": {"a", "b"}, "c": {"d"}}, "header:x-api-key=k", "pro", false},
		{"and another header", all, several{"account": {"b"}, "c": {"d"}, "X-Api-Key": {"l"}}, "header:x-api-key", "pro", false},
		{"another tier", all, several{"X-Plan": {"free"}}, "query:account=a", "", false},

		{"all are exempt", probe, several{"probe": {"1"}, "X-Internal": {"b"}}, "", "", true},
		{"the second is not", probe, several{"probe": {"2"}}, "header:x-api-key", "", false},
		{"the second is empty", probe, several{"X-Internal": {""}}, "header:x-api-key", "", false},
		{"the first is not", request{query: fields{"probe": "2"}, header: probe.header}, several{"probe": {"1"}}, "header:x-api-key", "", false},
	} {
		c.r.repeats = c.repeats
		if got := apply(t, s, c.r, MatchOptions{}); got.Key != c.key || got.Tier != c.tier || got.Exempt != c.exempt {
			t.Errorf("%s: key %q, tier %q, exempt %t", c.why, got.Key, got.Tier, got.Exempt)
		}
	}
}
