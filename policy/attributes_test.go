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

// A key is made of the first value, and an exemption goes by all of them.
func TestRepeatedFields(t *testing.T) {
	t.Parallel()
	s := mustSet(t, Policy{
		Name: "p", Key: []string{"query:account", "header:X-Api-Key"}, Limits: []limiter.Limit{perMinute("", 1)},
		Tiers:  Tiers{By: "header:X-Plan", Sets: []TierSet{{Name: "pro", Limits: []limiter.Limit{perMinute("", 5)}}}},
		Exempt: []Exemption{{Match: Match{Query: []Field{{"probe", "1"}}, Header: []Field{{"X-Internal", ""}}}}},
	})
	for _, c := range []struct {
		why    string
		r      request
		key    string
		tier   string
		exempt bool
	}{
		{"the first value", request{query: fields{"account": "a"}, header: fields{"X-Api-Key": "k", "X-Plan": "free"},
			repeats: several{"account": {"b"}, "X-Api-Key": {"l"}, "X-Plan": {"pro"}}}, "query:account=a&header:x-api-key=k", "", false},
		{"a first value that is empty", request{query: fields{"account": ""}, repeats: several{"account": {"b"}}}, "query:account&header:x-api-key", "", false},
		{"all are exempt", request{query: fields{"probe": "1"}, header: fields{"X-Internal": "a"}, repeats: several{"probe": {"1"}, "X-Internal": {"b"}}}, "", "", true},
		{"the second is not", request{query: fields{"probe": "1"}, header: fields{"X-Internal": "a"}, repeats: several{"probe": {"2"}}},
			"query:account&header:x-api-key", "", false},
		{"the first is not", request{query: fields{"probe": "2"}, header: fields{"X-Internal": "a"}, repeats: several{"probe": {"1"}}},
			"query:account&header:x-api-key", "", false},
		{"the second is empty", request{query: fields{"probe": "1"}, header: fields{"X-Internal": "a"}, repeats: several{"X-Internal": {""}}},
			"query:account&header:x-api-key", "", false},
	} {
		if got := apply(t, s, c.r, MatchOptions{}); got.Key != c.key || got.Tier != c.tier || got.Exempt != c.exempt {
			t.Errorf("%s: key %q, tier %q, exempt %t", c.why, got.Key, got.Tier, got.Exempt)
		}
	}
}
