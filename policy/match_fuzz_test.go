package policy

import (
	"reflect"
	"testing"

	"github.com/murmurate/murmurate/limiter"
)

// FuzzMatch: whatever a request says of itself, each policy that applies has
// a key that can be limited and a cost, or the check is refused; and the
// explanation says the same.
func FuzzMatch(f *testing.F) {
	tiered := tiered()
	tiered.Match = Match{Host: "*.example.com", Path: "/{tenant}/**", Query: []Field{{"q", ""}}}
	tiered.Exempt = []Exemption{{Match: Match{Path: "/static/*"}}, {CIDR: "10.0.0.0/8", Match: Match{Method: []string{"HEAD"}}}}
	tiered.Cost.Attr = "units"
	limits := []limiter.Limit{perMinute("", 5)}
	s, err := NewSet(tiered,
		Policy{Name: "parts", Match: Match{Path: "/a/**/{last}"}, Key: []string{"path:last", "path", "method", "host", "query:q | cookie:c"}, Limits: limits},
		Policy{Name: "site", Key: []string{"global"}, Limits: limits},
	)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("GET", "a.example.com:80", "/acme/%2F/../x?y", "10.0.0.1", "k", "1", "pro", "")
	f.Add("", "[::1]:80", "//a/b/%zz/", "::ffff:10.0.0.1%eth0", "\xff", "x", "gold", "user:42")
	f.Fuzz(func(t *testing.T, method, host, path, ip, value, units, plan, given string) {
		r := request{
			method: method, host: host, path: path, ip: ip,
			header: fields{"X-Api-Key": value, "X-Plan": plan}, cookie: fields{"c": value}, query: fields{"q": value}, attrs: fields{"units": units},
		}
		o := MatchOptions{Key: given}
		found, err := s.Match(nil, r, o)
		var explained []Applied
		var refused bool
		for _, e := range s.Explain(r, o) {
			refused = refused || e.Err != nil
			if e.NoMatch == "" && e.Err == nil {
				explained = append(explained, e.Applied)
			}
		}
		if refused != (err != nil) || err == nil && !reflect.DeepEqual(found, explained) {
			t.Fatalf("found %+v (%v), explained %+v", found, err, explained)
		}
		for _, a := range found {
			if !a.Exempt && (CheckKey(a.Key) != nil || a.Cost < 1) || a.Plan == nil {
				t.Fatalf("%+v", a)
			}
		}
	})
}
