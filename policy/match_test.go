package policy

import (
	"strings"
	"testing"

	"github.com/murmurate/murmurate/limiter"
)

// Each condition by itself: whom it takes, and what it tells whom it does not.
func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why   string
		match Match
		r     request
		want  string // why it fails
	}{
		{"nothing takes all", Match{}, request{}, ""},

		{"method", Match{Method: []string{"GET", "POST"}}, request{method: "POST"}, ""},
		{"another method", Match{Method: []string{"GET", "POST"}}, request{method: "PUT"}, "method: is not GET or POST"},
		{"methods have a case", Match{Method: []string{"GET"}}, request{method: "get"}, "method: is not GET"},
		{"no method", Match{Method: []string{"GET"}}, request{}, "method: is not GET"},

		{"host", Match{Host: "api.example.com"}, request{host: "api.example.com"}, ""},
		{"host in another case", Match{Host: "API.example.com"}, request{host: "Api.Example.COM"}, ""},
		{"host with a port", Match{Host: "api.example.com"}, request{host: "api.example.com:8080"}, ""},
		{"host with a final dot", Match{Host: "api.example.com"}, request{host: "api.example.com.:443"}, ""},
		{"another host", Match{Host: "example.com"}, request{host: "api.example.com"}, "host: is not example.com"},
		{"no host", Match{Host: "example.com"}, request{}, "host: is not example.com"},
		{"below", Match{Host: "*.example.com"}, request{host: "a.b.Example.com:1"}, ""},
		{"not itself below", Match{Host: "*.example.com"}, request{host: "example.com"}, "host: is not *.example.com"},
		{"not a dot before", Match{Host: "*.example.com"}, request{host: "badexample.com"}, "host: is not *.example.com"},
		{"nothing below", Match{Host: "*.example.com"}, request{host: ".example.com"}, "host: is not *.example.com"},
		{"IPv6", Match{Host: "2001:db8::1"}, request{host: "[2001:DB8::1]:80"}, ""},
		{"IPv6 without brackets", Match{Host: "2001:db8::1"}, request{host: "[2001:db8::1]"}, ""},

		{"path", Match{Path: "/login"}, request{path: "/x/..//%6Cogin/"}, ""},
		{"another path", Match{Path: "/v1/**"}, request{path: "/v2"}, "path: is not /v1/**"},
		{"no path is the root", Match{Path: "/"}, request{}, ""},

		{"header", Match{Header: []Field{{"x-beta", "yes"}}}, request{header: fields{"X-Beta": " yes\t"}}, ""},
		{"header of another value", Match{Header: []Field{{"x-beta", "yes"}}}, request{header: fields{"X-Beta": "Yes"}}, "header: x-beta has another value"},
		{"no header", Match{Header: []Field{{"x-beta", "yes"}}}, request{}, "header: there is no x-beta"},
		{"header of any value", Match{Header: []Field{{"X-Beta", ""}}}, request{header: fields{"X-Beta": "x"}}, ""},
		{"header of no value", Match{Header: []Field{{"X-Beta", ""}}}, request{header: fields{"X-Beta": " "}}, "header: there is no X-Beta"},
		{"one of two headers", Match{Header: []Field{{"A", ""}, {"B", ""}}}, request{header: fields{"A": "x"}}, "header: there is no B"},

		{"query", Match{Query: []Field{{"q", "a b"}}}, request{query: fields{"q": "a b"}}, ""},
		{"query of another value", Match{Query: []Field{{"q", "a"}}}, request{query: fields{"q": "b"}}, "query: q has another value"},
		{"query with space around it", Match{Query: []Field{{"q", "a"}}}, request{query: fields{"q": "a "}}, "query: q has another value"},
		{"no query", Match{Query: []Field{{"q", ""}}}, request{query: fields{"Q": "a"}}, "query: there is no q"},

		{"the second value", Match{Query: []Field{{"q", "b"}}}, request{query: fields{"q": "a"}, repeats: several{"q": {"b", "c"}}}, ""},
		{"the last value", Match{Header: []Field{{"x-beta", "c"}}}, request{header: fields{"X-Beta": ""}, repeats: several{"X-Beta": {"b", "c"}}}, ""},
		{"none of the values", Match{Query: []Field{{"q", "d"}}}, request{query: fields{"q": "a"}, repeats: several{"q": {"b", "c"}}}, "query: q has another value"},
		{"a value behind none", Match{Query: []Field{{"q", ""}}}, request{query: fields{"q": ""}, repeats: several{"q": {"b"}}}, ""},
		{"several times no value", Match{Query: []Field{{"q", ""}}}, request{query: fields{"q": ""}, repeats: several{"q": {""}}}, "query: there is no q"},
		{"two values for two conditions", Match{Query: []Field{{"q", "a"}, {"q", "b"}}}, request{query: fields{"q": "b"}, repeats: several{"q": {"a"}}}, ""},

		{"attribute", Match{Attribute: []Field{{"plan", "pro"}}}, request{attrs: fields{"plan": "pro"}}, ""},
		{"attribute of another value", Match{Attribute: []Field{{"plan", "pro"}}}, request{attrs: fields{"plan": "free"}}, "attribute: plan has another value"},
		{"attribute with space around it", Match{Attribute: []Field{{"plan", "pro"}}}, request{attrs: fields{"plan": " pro"}}, "attribute: plan has another value"},
		{"attribute of space", Match{Attribute: []Field{{"plan", " "}}}, request{attrs: fields{"plan": " "}}, ""},
		{"no attribute", Match{Attribute: []Field{{"plan", ""}}}, request{}, "attribute: there is no plan"},

		{"all", Match{Host: "h", Path: "/p", Method: []string{"GET"}, Query: []Field{{"q", ""}}},
			request{method: "GET", host: "h", path: "/p", query: fields{"q": "1"}}, ""},
		{"all but the last", Match{Host: "h", Path: "/p", Method: []string{"GET"}, Query: []Field{{"q", ""}}},
			request{method: "GET", host: "h", path: "/p"}, "query: there is no q"},
	} {
		s := mustSet(t, Policy{Name: "p", Match: c.match, Key: []string{"global"}, Limits: []limiter.Limit{perMinute("", 1)}})
		if got := s.Explain(c.r, MatchOptions{})[0].NoMatch; got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
		found, err := s.Match(nil, c.r, MatchOptions{})
		if err != nil || (len(found) == 1) != (c.want == "") {
			t.Errorf("%s: found %v (%v)", c.why, names(found), err)
		}
	}
}

func TestMatchFaults(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{perMinute("", 1)}
	for _, c := range []struct {
		why    string
		policy Policy
		want   []string
	}{
		{"methods", Policy{Match: Match{Method: []string{"get", "GET", "GET", "G T", ""}}}, []string{
			`match.method[0]: methods are compared exactly, in upper case: write "GET", not "get"`,
			`match.method[2]: "GET" is there already`,
			`match.method[3]: must be a method such as GET, got "G T"`,
			`match.method[4]: must be a method such as GET, got ""`}},
		{"host with a port", Policy{Match: Match{Host: "Example.com:80"}}, []string{
			`match.host: "Example.com:80" is compared without port, brackets and final dot: write "example.com"`}},
		{"hosts with a port", Policy{Match: Match{Host: "*.example.com."}}, []string{
			`match.host: "*.example.com." is compared without port, brackets and final dot: write "*.example.com"`}},
		{"any host", Policy{Match: Match{Host: "*"}}, []string{
			`match.host: must be a host such as api.example.com, or *.example.com for all below it, got "*"`}},
		{"URL for a host", Policy{Match: Match{Host: "https://example.com"}}, []string{
			`match.host: must be a host such as api.example.com, or *.example.com for all below it, got "https://example.com"`}},
		{"path", Policy{Match: Match{Path: "login"}}, []string{`match.path: must begin with /, got "login"`}},
		{"names", Policy{Match: Match{Header: []Field{{"a b", ""}, {"host", ""}}, Query: []Field{{}}, Attribute: []Field{{"a|b", ""}}}}, []string{
			`match.header[0].name: header needs the name of one, such as X-Api-Key or session, got "a b"`,
			`match.header[1].name: the Host field is no header to servers: use host`,
			`match.query[0].name: query needs a name without spaces and |, got ""`,
			`match.attribute[0].name: attr needs a name without spaces and |, got "a|b"`}},
		{"exemptions", Policy{Exempt: []Exemption{
			{}, {CIDR: "10.0.0.1"}, {CIDR: "10.0.0.1/8"}, {CIDR: "ten"}, {CIDR: "::ffff:10.0.0.0/104"}, {Match: Match{Path: "x", Method: []string{"get"}}}}}, []string{
			"exempt[0]: would exempt every request: give it a path, cidr, method, host, header, query or attribute",
			"exempt[1].cidr: must be a network: write 10.0.0.1/32 for this one address",
			"exempt[2].cidr: 10.0.0.1/8 is not where a network begins: write 10.0.0.0/8",
			`exempt[3].cidr: must be a network such as 10.0.0.0/8 or 2001:db8::/32, got "ten"`,
			`exempt[4].cidr: an IPv4 network is compared as such: write it as in 10.0.0.0/8, not "::ffff:10.0.0.0/104"`,
			`exempt[5].method[0]: methods are compared exactly, in upper case: write "GET", not "get"`,
			`exempt[5].path: must begin with /, got "x"`}},
		{"keys", Policy{Match: Match{Path: "/{tenant}/**"}, Key: []string{
			"ipp", "", "header", "ip:x", "path:tenat", "path:", "ip | ip", "global | ip", "global", "header:Host", "cookie:a;b", "attr:", "ip |"}}, []string{
			`key[0]: must be ` + sourceForms + `, got "ipp" (did you mean "ip"?)`,
			`key[1]: must be ` + sourceForms,
			`key[2]: header needs a name: write header:NAME`,
			`key[3]: ip has no name: write ip alone, not "ip:x"`,
			`key[4]: path:tenat needs a segment {tenat} in match.path (did you mean "tenant"?)`,
			`key[5]: path: needs a segment {} in match.path`,
			`key[6]: ip is there twice`,
			`key[7]: what follows global is never taken, as every request has it: put global last`,
			`key[8]: global is one counter for everybody and changes nothing beside other parts: leave it out`,
			`key[9]: the Host field is no header to servers: use host`,
			`key[10]: cookie needs the name of one, such as X-Api-Key or session, got "a;b"`,
			`key[11]: attr needs a name without spaces and |, got ""`,
			`key[12]: must be ` + sourceForms}},
		{"keys of a faulty path", Policy{Match: Match{Path: "/{tenant}/*x"}, Key: []string{"path:tenant"}}, []string{
			`match.path: *, ** and {name} stand for whole segments, not for a part of "*x": write %2A, %7B and %7D for the characters`}},
		{"a lone global is a key", Policy{Key: []string{"global"}}, nil},
		{"global may come last", Policy{Key: []string{"attr:user | global", "method"}}, nil},
		{"costs", Policy{Cost: Cost{Default: -1, Attr: "a b", ByMethod: []MethodCost{{"GET", 1}, {"GET", 0}, {"post", 2}}}}, []string{
			"cost.default: must not be negative",
			`cost.by_method[1].method: "GET" is there already`,
			"cost.by_method[1].cost: must be at least 1, got 0; what costs nothing belongs into exempt",
			`cost.by_method[2].method: methods are compared exactly, in upper case: write "POST", not "post"`,
			`cost.by_method[2].cost: 2 is more than limit "p" can ever hold (1)`,
			`cost.attr: attr needs a name without spaces and |, got "a b"`}},
		{"attributes that requests have of their own", Policy{Key: []string{"attr:ip"}, Match: Match{Attribute: []Field{{"path", ""}}}}, []string{
			`match.attribute[0].name: "path" is what a request says of itself, and no attribute: write ip, method, host, path, query:NAME, header:NAME or cookie:NAME`,
			`key[0]: "ip" is what a request says of itself, and no attribute: write ip, method, host, path, query:NAME, header:NAME or cookie:NAME`}},
		{"status of a success", Policy{DenyStatus: 200}, []string{
			"deny_status: must be an HTTP status from 400 to 599, got 200"}},
		{"no status", Policy{DenyStatus: 600}, []string{
			"deny_status: must be an HTTP status from 400 to 599, got 600"}},
	} {
		c.policy.Name, c.policy.Limits = "p", limits
		got := strings.Join(faultLines(t, c.policy.Validate()), "\n")
		if want := strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, want)
		}
	}
}
