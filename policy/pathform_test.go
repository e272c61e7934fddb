package policy

import (
	"path"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/limiter"
)

// scenario 45: however a path is written, it is one path.
func TestNormalPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, path, want string }{
		{"normal", "/login", "/login"},
		{"a slash at the end", "/login/", "/login"},
		{"slashes at the end", "/login///", "/login"},
		{"a doubled slash", "//login", "/login"},
		{"an encoded letter", "/%6Cogin", "/login"},
		{"lower case digits", "/%6cogin", "/login"},
		{"a detour", "/x/../login", "/login"},
		{"an encoded detour", "/x/%2e%2E/login", "/login"},
		{"a detour above the root", "/../../login", "/login"},
		{"a detour over doubled slashes", "/x//../login", "/login"},
		{"a detour over a file in the root", "/login/..", "/"},
		{"here", "/./login/.", "/login"},
		{"no dot segment", "/.login/..x/...", "/.login/..x/..."},
		{"no slash at the beginning", "login", "/login"},
		{"nothing", "", "/"},
		{"the root", "/", "/"},
		{"an asterisk", "*", "/*"},
		{"an encoded slash stays", "/a%2Fb", "/a%2Fb"},
		{"and its case does not", "/a%2fb", "/a%2Fb"},
		{"an encoded slash is no end of a dot segment", "/a/..%2Flogin", "/a/..%2Flogin"},
		{"reserved characters", "/%40a%2Cb%21%24", "/@a,b!$"},
		{"parameters", "/login;a=b;c", "/login"},
		{"encoded parameters", "/login%3ba%3Db%2Fc", "/login"},
		{"parameters before a slash", "/v1;a/login;b/", "/v1/login"},
		{"parameters before a query", "/login;a?b/c", "/login"},
		{"a detour with parameters", "/x/..;a/login", "/login"},
		{"an encoded detour with parameters", "/x/%2e%2E%3B/login", "/login"},
		{"here, with parameters", "/.;a/login/;b", "/login"},
		{"parameters of nothing", ";a", "/"},
		{"an encoded percent sign stays", "/%2541", "/%2541"},
		{"a percent sign that encodes nothing", "/100%/%4/%zz/%", "/100%25/%254/%25zz/%25"},
		{"UTF-8", "/caf%C3%A9", "/café"},
		{"what is not UTF-8", "/%FF%00", "/\xff\x00"},
		{"a query", "/login?a=/../b", "/login"},
		{"a fragment", "/login/#x", "/login"},
		{"an encoded question mark stays", "/a%3fb%23", "/a%3Fb%23"},
		{"the case of letters", "/Login", "/Login"},
		{"a space", "/a b%20c", "/a b c"},
	} {
		if got := NormalPath(c.path); got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.why, c.path, got, c.want)
		}
	}
}

// Where servers differ, a policy applies by whichever reading it matches, and
// nobody is exempt who would not be by every one.
func TestPathsThatServersReadDifferently(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{perMinute("", 1)}
	s := mustSet(t,
		Policy{Name: "page", Match: Match{Path: "/search"}, Key: []string{"path"}, Limits: limits},
		Policy{Name: "below", Match: Match{Path: "/search/{x}/**"}, Key: []string{"path:x"}, Limits: limits},
		Policy{Name: "site", Key: []string{"global"}, Limits: limits,
			Exempt: []Exemption{{Match: Match{Path: "/static/**"}}, {Match: Match{Path: "/healthz"}}}},
	)
	for _, c := range []struct{ path, want string }{ // which of them apply, and with which key
		// One and the same path.
		{"/search", "page(path=/search) site"},
		{"/search/", "page(path=/search) site"},
		{"/%73earch", "page(path=/search) site"},
		{"/search;a=b", "page(path=/search) site"},
		{"/search;", "page(path=/search) site"},
		{"/search%3Ba=b", "page(path=/search) site"},
		{"/;a/search", "page(path=/search) site"},
		{"/x/..;/search", "page(path=/search) site"},
		{"/x/%2e%2e%3b/search", "page(path=/search) site"},
		{"/static/..;/search", "page(path=/search) site"},
		// With parameters, either of two.
		{"/search/..;/x", "below(path:x=..;) site"},
		{"/search/a;b/x", "below(path:x=a) site"},
		{"/x;/search", "site"},
		// Other paths.
		{"/search%20", "site"},
		{"/search%00", "site"},
		{"/search%0a", "site"},
		{"/search\\", "site"},
		{"/search%5C", "site"},
		{"/search.", "site"},
		{"/search%2F", "site"},
		{"/search%252F", "site"},
		{"/Search", "site"},
		{"/sear\u212Ah", "site"},
		// Exempt.
		{"/static/a.css", ""},
		{"/static/a.css;v=1", ""},
		{"/static/./a//b%20c/", ""},
		{"/static/x/../a", ""},
		{"/static/.well-known/a..b", ""},
		{"/healthz", ""},
		{"/healthz/", ""},
		// Not exempt.
		{"/static/..;/a", "site"},
		{"/static/%2e%2e;x/a", "site"},
		{"/static/..%3b/a", "site"},
		{"/static/..%00/a", "site"},
		{"/static/..%20/a", "site"},
		{"/static/.../a", "site"},
		{"/static/..%09/a", "site"},
		{"/static/..%2Fa", "site"},
		{"/static/..%5ca", "site"},
		{"/static/..\\a", "site"},
		{"/static/%252e%252e/a", "site"},
		{"/static/%c0%ae%c0%ae/a", "site"},
		{"/static/a%00.css", "site"},
		{"/static/a%7f", "site"},
		{"/static/a%3Fb", "site"},
		{"/static/a\\b/..;/..;/c", "site"},
		{"/a/..;/static/b", "site"},
		{"/;a/static/b", "site"},
		{"/healthz;a", "site"},
		{"/healthz%3Ba", "site"},
		{"/healthz%00", "site"},
	} {
		found, err := s.Match(nil, request{path: c.path}, MatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range found {
			switch name := found[i].Plan.Policy().Name; {
			case found[i].Exempt:
			case name == "site":
				got = append(got, name)
			default:
				got = append(got, name+"("+found[i].Key+")")
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
}

// FuzzNormalPath: a normal form is its own, has no way left to be written
// otherwise, and is what the standard library makes of a path without
// encodings.
func FuzzNormalPath(f *testing.F) {
	for _, seed := range []string{"/login/", "//login", "/%6Cogin", "/x/../login", "/a%2Fb%25%3f", "%", "/%2e%2e//./..", "?", "a/..", "/a/..;x/b%3By/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, written string) {
		normal := NormalPath(written)
		if again := NormalPath(normal); again != normal {
			t.Fatalf("%q is %q, which is %q", written, normal, again)
		}
		if normal[0] != '/' || strings.Contains(normal, "//") || normal != "/" && strings.HasSuffix(normal, "/") || path.Clean(normal) != normal {
			t.Fatalf("%q is %q", written, normal)
		}
		if plain, _, _ := strings.Cut(written, "?"); !strings.ContainsAny(plain, "%#;") && normal != path.Clean("/"+plain) {
			t.Fatalf("%q is %q, want %q", written, normal, path.Clean("/"+plain))
		}
		for _, same := range []string{"/" + written, "/%2E/" + written, "/x/%2e./" + written, normal + "/", normal + "//x/.."} {
			if got := NormalPath(same); got != normal {
				t.Fatalf("%q is %q, but %q is %q", written, normal, same, got)
			}
		}
		if !strings.ContainsAny(written, "%?#") {
			if got := NormalPath(encodeAll(written)); got != normal {
				t.Fatalf("%q is %q, but %q encoded", written, normal, got)
			}
		}
	})
}

// encodeAll writes every byte but slashes as %XX.
func encodeAll(s string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '/' {
			b.WriteByte('/')
			continue
		}
		b.WriteString("%" + string(digits[s[i]>>4]) + string(digits[s[i]&15]))
	}
	return b.String()
}
