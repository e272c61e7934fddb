package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/limiter"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	full := request{
		method: "GET", host: "API.example.com:80", path: "/acme//orders/7/", ip: "203.0.113.9",
		header: fields{"X-Api-Key": " k1 "}, cookie: fields{"session": "s"}, query: fields{"q": "a&b=c"}, attrs: fields{"user": "u"},
	}
	for _, c := range []struct {
		key   []string
		r     request
		given string
		want  string
	}{
		{[]string{"ip"}, full, "", "ip=203.0.113.9/32"},
		{[]string{"header:x-api-key"}, full, "", "header:x-api-key=k1"},
		{[]string{"cookie:session"}, full, "", "cookie:session=s"},
		{[]string{"query:q"}, full, "", "query:q=a%26b=c"},
		{[]string{"path"}, full, "", "path=/acme/orders/7"},
		{[]string{"path:tenant"}, full, "", "path:tenant=acme"},
		{[]string{"method"}, full, "", "method=GET"},
		{[]string{"host"}, full, "", "host=api.example.com"},
		{[]string{"attr:user"}, full, "", "attr:user=u"},
		{[]string{"global"}, full, "", "global"},
		{[]string{"header:X-Api-Key | ip", "path:tenant"}, full, "", "header:x-api-key=k1&path:tenant=acme"},
		// The alternative that was taken is part of the key.
		{[]string{"header:X-Other|ip", "path:id"}, full, "", "ip=203.0.113.9/32&path:id=7"},
		{[]string{"attr:none | global"}, full, "", "global"},
		{[]string{"attr:user | global"}, full, "", "attr:user=u"},
		// Who lacks the key shares one counter with all others who do.
		{[]string{"header:X-Api-Key"}, request{path: "/a/orders/b"}, "", "header:x-api-key"},
		{[]string{"header:X-Api-Key | cookie:session"}, request{path: "/a/orders/b"}, "", "cookie:session"},
		{[]string{"header:X-Api-Key", "path:id"}, request{path: "/a/orders/b"}, "", "header:x-api-key&path:id=b"},
		{[]string{"ip"}, request{path: "/a/orders/b"}, "", "ip=unknown"},
		// A given key takes the place of all that but of everybody's counter.
		{[]string{"ip", "path:id"}, full, "user:42", "user:42"},
		{nil, full, "user:42", "user:42"},
		{[]string{"global"}, full, "user:42", "global"},
	} {
		s := mustSet(t, Policy{Name: "p", Match: Match{Path: "/{tenant}/orders/{id}"}, Key: c.key, Limits: []limiter.Limit{perMinute("", 1)}})
		if got := apply(t, s, c.r, MatchOptions{Key: c.given}).Key; got != c.want {
			t.Errorf("%q: %q, want %q", c.key, got, c.want)
		}
	}
}

func TestDefaultKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key  []string
		o    MatchOptions
		want string
	}{
		{nil, MatchOptions{DefaultKey: "d"}, "d"},
		{nil, MatchOptions{DefaultKey: "d", Key: "k"}, "k"},
		{[]string{"method"}, MatchOptions{DefaultKey: "d"}, "method=GET"},
		{[]string{"header:X-Api-Key"}, MatchOptions{DefaultKey: "d"}, "header:x-api-key"},
		{[]string{"global"}, MatchOptions{DefaultKey: "d"}, "global"},
	} {
		s := mustSet(t, Policy{Name: "p", Key: c.key, Limits: []limiter.Limit{perMinute("", 1)}})
		if got := apply(t, s, request{method: "GET"}, c.o).Key; got != c.want {
			t.Errorf("%q with %+v: %q, want %q", c.key, c.o, got, c.want)
		}
	}
	s := mustSet(t, Policy{Name: "p", Limits: []limiter.Limit{perMinute("", 1)}})
	found, err := s.Apply(nil, &Request{Attributes: request{}, DefaultKey: strings.Repeat("d", MaxKeyBytes+1)}, MatchOptions{})
	if len(found) != 0 || !errors.Is(err, ErrInput) {
		t.Errorf("long default key: %v, %v", found, err)
	}
}

// An address in a header is not that address.
func TestAKeyCannotBeHadByOtherMeans(t *testing.T) {
	t.Parallel()
	s := mustSet(t, Policy{Name: "p", Key: []string{"header:X-Api-Key | ip"}, Limits: []limiter.Limit{perMinute("", 1)}})
	victim := apply(t, s, request{ip: "203.0.113.9"}, MatchOptions{}).Key
	for _, forged := range []string{"203.0.113.9/32", "203.0.113.9", "ip=203.0.113.9/32", victim} {
		if key := apply(t, s, request{ip: "198.51.100.1", header: fields{"X-Api-Key": forged}}, MatchOptions{}).Key; key == victim {
			t.Errorf("%q has the key %s", forged, key)
		}
	}
}

func TestMatchRefuses(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{perMinute("", 1)}
	s := mustSet(t,
		Policy{Name: "first", Key: []string{"global"}, Limits: limits},
		Policy{Name: "keyless", Match: Match{Path: "/keyless"}, Limits: limits},
		Policy{Name: "priced", Match: Match{Path: "/priced"}, Key: []string{"ip"}, Cost: Cost{Attr: "units"}, Limits: limits},
	)
	before := []Applied{{Key: "before"}}
	for _, c := range []struct {
		r    request
		o    MatchOptions
		want string
	}{
		{request{}, MatchOptions{Cost: -1}, "cost: must not be negative"},
		{request{}, MatchOptions{Key: "\xff"}, "key: must be valid UTF-8"},
		{request{path: "/keyless"}, MatchOptions{}, `key: is required: policy "keyless" applies and has no key of its own; give the check a key, or the policy one such as [ip]`},
		{request{path: "/priced", attrs: fields{"units": "many"}}, MatchOptions{},
			`attributes.units: is the request's cost and must be a whole number such as 250, 10k, 5M or 1G, got "many"`},
		{request{path: "/priced", attrs: fields{"units": "0"}}, MatchOptions{}, "attributes.units: is the request's cost and must be at least 1, got 0"},
	} {
		found, err := s.Match(before, c.r, c.o)
		if err == nil || !errors.Is(err, ErrInput) || err.Error() != c.want || len(found) != 1 {
			t.Errorf("%+v: %v, %v; want %s", c.r, names(found), err, c.want)
		}
		explained := s.Explain(c.r, c.o)
		if !slices.ContainsFunc(explained, func(e Explanation) bool { return e.Err != nil && e.Err.Error() == c.want }) {
			t.Errorf("%+v: %+v does not explain %s", c.r, explained, c.want)
		}
	}
}

func TestCosts(t *testing.T) {
	t.Parallel()
	cost := Cost{Default: 2, ByMethod: []MethodCost{{"POST", 5}, {"PUT", 4}}, Attr: "units"}
	for _, c := range []struct {
		cost Cost
		r    request
		o    int64
		want int64
	}{
		{Cost{}, request{method: "POST"}, 0, 1},
		{cost, request{method: "GET"}, 0, 2},
		{cost, request{method: "POST"}, 0, 5},
		{cost, request{method: "PUT"}, 0, 4},
		{cost, request{method: "POST", attrs: fields{"units": "12"}}, 0, 12},
		{cost, request{method: "POST", attrs: fields{"units": "12"}}, 7, 7},
	} {
		s := mustSet(t, Policy{Name: "p", Key: []string{"ip"}, Cost: c.cost, Limits: []limiter.Limit{perMinute("", 100)}})
		if got := apply(t, s, c.r, MatchOptions{Cost: c.o}).Cost; got != c.want {
			t.Errorf("%+v of %s costs %d, want %d", c.cost, c.r.method, got, c.want)
		}
	}
}

// scenario 63: who is exempt is reported as such.
func TestExemptions(t *testing.T) {
	t.Parallel()
	s := mustSet(t, Policy{
		Name: "p", Match: Match{Path: "/{tenant}/**"}, Key: []string{"path:tenant"}, Limits: []limiter.Limit{perMinute("", 1)},
		Exempt: []Exemption{
			{Match: Match{Path: "/healthz"}},
			{CIDR: "10.0.0.0/8"},
			{Match: Match{Path: "/static/{file}/**"}},
			{CIDR: "2001:db8::/32", Match: Match{Method: []string{"HEAD"}}},
			{Match: Match{Header: []Field{{"X-Internal", "yes"}}}},
		},
	})
	for _, c := range []struct {
		why  string
		r    request
		rule string
	}{
		{"path", request{path: "//healthz/"}, "exempt[0]"},
		{"network", request{path: "/a", ip: "10.1.2.3"}, "exempt[1]"},
		{"network, mapped", request{path: "/a", ip: "::ffff:10.1.2.3"}, "exempt[1]"},
		{"another network", request{path: "/a", ip: "11.1.2.3"}, ""},
		{"no address", request{path: "/a"}, ""},
		{"pattern", request{path: "/static/css/a.css"}, "exempt[2]"},
		{"a way out of the pattern", request{path: "/static/x/../../login"}, ""},
		{"a way out for some servers", request{path: "/static/x/..%2F..%2flogin"}, ""},
		{"a way out for other servers", request{path: `/static/x/..\..\login`}, ""},
		{"both", request{path: "/a", method: "HEAD", ip: "2001:db8::1"}, "exempt[3]"},
		{"one of both", request{path: "/a", method: "GET", ip: "2001:db8::1"}, ""},
		{"header", request{path: "/a", header: fields{"X-Internal": "yes"}}, "exempt[4]"},
	} {
		got := apply(t, s, c.r, MatchOptions{})
		if got.Exempt != (c.rule != "") || got.Exempt && (got.Key != "" || got.Cost != 0) {
			t.Errorf("%s: %+v", c.why, got)
		}
		// The key is made of the policy's captures, whatever the exemptions' are.
		if want := "path:tenant=" + strings.Split(NormalPath(c.r.path), "/")[1]; !got.Exempt && got.Key != want {
			t.Errorf("%s: key %s, want %s", c.why, got.Key, want)
		}
		if rule := s.Explain(c.r, MatchOptions{})[0].Rule; rule != c.rule {
			t.Errorf("%s: explained by %q, want %q", c.why, rule, c.rule)
		}
	}
}

func TestSetWithoutRulesMatchesNothing(t *testing.T) {
	t.Parallel()
	if found, err := new(Set).Match(nil, request{}, MatchOptions{Key: "k"}); err != nil || found != nil {
		t.Errorf("%v, %v", found, err)
	}
}
