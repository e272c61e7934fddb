package policy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPathPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		match   []string // and, after a space, the captures
		not     []string
	}{
		{"/", []string{"/", "", "//", "/x/.."}, []string{"/a"}},
		{"/login", []string{"/login", "/login/", "//login", "/%6Cogin", "/x/../login", "/login?a=b"}, []string{"/", "/Login", "/login/x", "/logins", "/x/login"}},
		{"//%6cogin/./", []string{"/login"}, []string{"/"}},
		{"/v1/*", []string{"/v1/a", "/v1/a/"}, []string{"/v1", "/v1/", "/v1/a/b", "/v2/a"}},
		{"/v1/**", []string{"/v1", "/v1/", "/v1/a", "/v1/a/b"}, []string{"/v2", "/", "/v1x"}},
		{"/**", []string{"/", "/a", "/a/b"}, nil},
		{"/**/**", []string{"/", "/a"}, nil},
		{"/**/end", []string{"/end", "/a/end", "/end/end", "/end/x/end"}, []string{"/", "/end/x"}},
		{"/a/**/b/*/c/**", []string{"/a/b/x/c", "/a/b/b/x/c/d", "/a/b/x/b/y/c"}, []string{"/a/b/c", "/a/x/c"}},
		{"/{tenant}/orders/{id}", []string{"/acme/orders/7 acme,7", "/a%2Fb/orders/%7E a%2Fb,~"}, []string{"/acme/orders", "/acme/order/7"}},
		{"/**/{last}", []string{"/a a", "/a/b/c c"}, []string{"/"}},
		{"/{first}/**/{last}", []string{"/a/b a,b", "/a/b/c/d a,d"}, []string{"/a"}},
		{"/a%2Fb", []string{"/a%2fb"}, []string{"/a/b"}},
		{"/%2A/%7Bx%7D", []string{"/*/{x}"}, []string{"/a/b"}},
		{"/café", []string{"/caf%C3%A9", "/café"}, []string{"/cafe"}},
	} {
		p, err := parsePathPattern(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for _, text := range c.match {
			path, want, _ := strings.Cut(text, " ")
			var kept captures
			matches := p.match(NormalPath(path), &kept)
			if got := strings.Join(kept[:len(p.names)], ","); !matches || got != want {
				t.Errorf("%s matches %s: %v, captures %q, want %q", c.pattern, path, matches, got, want)
			}
		}
		for _, path := range c.not {
			if p.match(NormalPath(path), new(captures)) {
				t.Errorf("%s matches %s", c.pattern, path)
			}
		}
	}
}

func TestPathPatternFaults(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"login":                                `must begin with /, got "login"`,
		"":                                     `must begin with /, got ""`,
		"/a?b=c":                               `"/a?b=c" has a query or fragment, which no path has: use query for parameters, %3F and %23 for the characters`,
		"/*.css":                               `*, ** and {name} stand for whole segments, not for a part of "*.css": write %2A, %7B and %7D for the characters`,
		"/a/***":                               `*, ** and {name} stand for whole segments, not for a part of "***": write %2A, %7B and %7D for the characters`,
		"/{a":                                  `*, ** and {name} stand for whole segments, not for a part of "{a": write %2A, %7B and %7D for the characters`,
		"/a;b/c":                               `parameters are cut off before paths are matched: leave out what begins with the semicolon in "a;b"`,
		"/a/*%3Bb":                             `parameters are cut off before paths are matched: leave out what begins with the semicolon in "*%3Bb"`,
		"/{}":                                  "the name in {} " + NameRule,
		"/{a b}":                               "the name in {a b} " + NameRule,
		"/{a}/{a}":                             "{a} is there twice: give the second another name, or write *",
		"/a/../b":                              "must not have .. segments, which no path has left when it is matched: write the path that is meant",
		"/a/%2e./b":                            "must not have .. segments, which no path has left when it is matched: write the path that is meant",
		"/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}": "must have at most 8 {name} segments: write * for those that no key uses",
	} {
		if _, err := parsePathPattern(pattern); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", pattern, err, want)
		}
	}
}

// naiveMatch tries every number of segments for every **.
func naiveMatch(pattern, path []string) bool {
	if len(pattern) == 0 {
		return len(path) == 0
	}
	if pattern[0] == "**" {
		return naiveMatch(pattern[1:], path) || len(path) > 0 && naiveMatch(pattern, path[1:])
	}
	if len(path) == 0 {
		return false
	}
	one := pattern[0] == "*" || strings.HasPrefix(pattern[0], "{") || pattern[0] == path[0]
	return one && naiveMatch(pattern[1:], path[1:])
}

func TestPathPatternsAgreeWithANaiveMatcher(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "**", "{x}"}), 0, 6).Draw(t, "pattern")
		path := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 8).Draw(t, "path")
		if i := slices.Index(pattern, "{x}"); i >= 0 {
			for j := i + 1; j < len(pattern); j++ {
				if pattern[j] == "{x}" {
					pattern[j] = "*" // a name is there once
				}
			}
		}
		p, err := parsePathPattern("/" + strings.Join(pattern, "/"))
		if err != nil {
			t.Fatal(err)
		}
		var kept captures
		got, want := p.match("/"+strings.Join(path, "/"), &kept), naiveMatch(pattern, path)
		if got != want {
			t.Fatalf("%q matches %q: %v, want %v", pattern, path, got, want)
		}
		if got && slices.Contains(pattern, "{x}") && !slices.Contains(path, kept[0]) {
			t.Fatalf("%q captured %q of %q", pattern, kept[0], path)
		}
	})
}

// FuzzPathPattern: no pattern or path panics, however a path is written makes
// no difference, and a path that is itself a pattern matches it.
func FuzzPathPattern(f *testing.F) {
	f.Add("/v1/**/{id}", "/v1/a/b")
	f.Add("/**/a/**/b/**", "/a/a/a/b/c")
	f.Add("/%2A//", "/*")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		normal := NormalPath(path)
		if p, err := parsePathPattern(pattern); err == nil {
			got := p.match(normal, new(captures))
			if again := p.match(NormalPath(normal+"/x/%2e%2e/."), new(captures)); again != got {
				t.Fatalf("%q matches %q: %v, and written otherwise: %v", pattern, path, got, again)
			}
		}
		literal := strings.NewReplacer("*", "%2A", "{", "%7B", "}", "%7D").Replace(normal)
		p, err := parsePathPattern(literal)
		if err != nil || !p.match(normal, new(captures)) {
			t.Fatalf("the pattern %q does not match the path %q: %v", literal, normal, err)
		}
	})
}
