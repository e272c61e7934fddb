package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

func TestExemptionsOfEverything(t *testing.T) {
	t.Parallel()
	const all = "exempts whatever the policy matches, so its limits never deny: narrow it, or remove the policy"
	exempt := func(m Match) Exemption { return Exemption{Match: m} }
	for _, c := range []struct {
		match  Match
		exempt Exemption
		want   string
	}{
		{Match{}, exempt(Match{Path: "/**"}), all},
		{Match{Path: "/v1/**"}, exempt(Match{Path: "/**"}), all},
		{Match{Path: "/v1/{tenant}/x"}, exempt(Match{Path: "/v1/**"}), all},
		{Match{Path: "/v1/{tenant}/x"}, exempt(Match{Path: "/v1/*/x"}), all},
		{Match{Path: "/v1/x"}, exempt(Match{Path: "//v1/%78/"}), all},
		{Match{Path: "/v1/**"}, exempt(Match{Path: "/v1/*/**"}), ""},
		{Match{Path: "/v1/*"}, exempt(Match{Path: "/v1/x"}), ""},
		{Match{Path: "/v1"}, exempt(Match{Path: "/v1/x"}), ""},
		{Match{}, exempt(Match{Path: "/v1/**"}), ""},
		{Match{Path: "/**"}, exempt(Match{Path: "/"}), ""},

		{Match{Method: []string{"GET"}}, exempt(Match{Method: []string{"HEAD", "GET"}}), all},
		{Match{Method: []string{"GET", "POST"}}, exempt(Match{Method: []string{"GET"}}), ""},
		{Match{}, exempt(Match{Method: []string{"GET"}}), ""},
		{Match{Method: []string{"GET"}}, exempt(Match{Path: "/**", Method: []string{"POST"}}), ""},

		{Match{Host: "a.example.com"}, exempt(Match{Host: "A.example.com"}), all},
		{Match{Host: "a.example.com"}, exempt(Match{Host: "*.example.com"}), all},
		{Match{Host: "*.a.example.com"}, exempt(Match{Host: "*.example.com"}), all},
		{Match{Host: "*.example.com"}, exempt(Match{Host: "*.a.example.com"}), ""},
		{Match{Host: "*.example.com"}, exempt(Match{Host: "x.example.com"}), ""},
		{Match{Host: "example.com"}, exempt(Match{Host: "*.example.com"}), ""},
		{Match{}, exempt(Match{Host: "*.example.com"}), ""},

		{Match{}, Exemption{CIDR: "0.0.0.0/0"}, "exempts every client that has an IPv4 address: write the networks that are meant"},
		{Match{}, Exemption{CIDR: "::/0"}, "exempts every client that has an IPv6 address: write the networks that are meant"},
		{Match{Path: "/x"}, Exemption{CIDR: "0.0.0.0/0", Match: Match{Path: "/x/**"}}, "exempts every client that has an IPv4 address: write the networks that are meant"},
		{Match{}, Exemption{CIDR: "0.0.0.0/0", Match: Match{Path: "/x/**"}}, ""},
		{Match{}, Exemption{CIDR: "0.0.0.0/1"}, ""},
		{Match{}, Exemption{CIDR: "10.0.0.0/8", Match: Match{Path: "/**"}}, ""},

		// Of several values, all must do for an exemption, and one for a match.
		{Match{Header: []Field{{"X-A", "1"}}}, exempt(Match{Header: []Field{{"X-A", "1"}}}), ""},
		{Match{Header: []Field{{"X-A", "1"}}, Path: "/x"}, exempt(Match{Path: "/x"}), all},
	} {
		p := Policy{Name: "p", Match: c.match, Key: []string{"global"}, Limits: []limiter.Limit{perMinute("", 1)}, Exempt: []Exemption{c.exempt}}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		want := ""
		if c.want != "" {
			want = "exempt[0]: " + c.want
		}
		var got []string
		for _, w := range p.Warnings(AddressBits{}) {
			got = append(got, w.Field+": "+w.Detail)
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%+v with %+v: %q, want %q", c.match, c.exempt, got, want)
		}
	}
}

// Where one pattern is said to cover another, no path is taken by the other
// alone.
func TestWhatIsCoveredIsTaken(t *testing.T) {
	t.Parallel()
	segments := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "**", "{x}"}), 0, 4)
	claims := 0
	rapid.Check(t, func(t *rapid.T) {
		pattern := func(label string) *pathPattern {
			list := segments.Draw(t, label)
			seen := false
			for i := range list {
				if list[i] == "{x}" && seen {
					list[i] = "*"
				}
				seen = seen || list[i] == "{x}"
			}
			p, err := parsePathPattern("/" + strings.Join(list, "/"))
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		p, other := pattern("p"), pattern("other")
		if !p.covers(other) {
			return
		}
		claims++
		path := "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 5).Draw(t, "path"), "/")
		if kept := new(captures); other.match(path, kept) && !p.match(path, kept) {
			t.Fatalf("%+v covers %+v, but not for %s", p, other, path)
		}
	})
	if claims == 0 {
		t.Error("no pattern that covers another")
	}
}
