package policy

import (
	"path"
	"strings"
	"testing"
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
		{"reserved characters", "/%40a%3Bb%21%24", "/@a;b!$"},
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

// FuzzNormalPath: a normal form is its own, has no way left to be written
// otherwise, and is what the standard library makes of a path without
// encodings.
func FuzzNormalPath(f *testing.F) {
	for _, seed := range []string{"/login/", "//login", "/%6Cogin", "/x/../login", "/a%2Fb%25%3f", "%", "/%2e%2e//./..", "?", "a/.."} {
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
		if plain, _, _ := strings.Cut(written, "?"); !strings.ContainsAny(plain, "%#") && normal != path.Clean("/"+plain) {
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
