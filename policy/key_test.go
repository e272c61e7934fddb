package policy

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestJoinKey(t *testing.T) {
	t.Parallel()
	header := func(value string) KeyPart { return KeyPart{KeyHeader, "x-api-key", value} }
	tests := []struct {
		why   string
		parts []KeyPart
		want  string
	}{
		{"a header", []KeyPart{header("secret")}, "header:x-api-key=secret"},
		{"an address", []KeyPart{{KeyIP, "", "203.0.113.9/32"}}, "ip=203.0.113.9/32"},
		{"an address in a header is no address", []KeyPart{header("203.0.113.9/32")}, "header:x-api-key=203.0.113.9/32"},
		{"no value", []KeyPart{header("")}, "header:x-api-key"},
		{"two parts", []KeyPart{header("k"), {KeyPath, "tenant", "acme"}}, "header:x-api-key=k&path:tenant=acme"},
		{"a value that looks like two parts", []KeyPart{header("k&path:tenant=acme")}, "header:x-api-key=k%26path:tenant=acme"},
		{"a name that looks like one with a value", []KeyPart{{KeyCookie, "a=b", "c"}}, "cookie:a%3Db=c"},
		{"an equals sign in a value", []KeyPart{{KeyCookie, "a", "b=c"}}, "cookie:a=b=c"},
		{"an escaped value", []KeyPart{header("%26")}, "header:x-api-key=%2526"},
		{"control characters", []KeyPart{header("a\r\n\x00\x7f")}, "header:x-api-key=a%0D%0A%00%7F"},
		{"UTF-8 stays", []KeyPart{header("São Paulo \U0001F600")}, "header:x-api-key=São Paulo \U0001F600"},
		{"what is not UTF-8 does not", []KeyPart{header("a\xff\xc3")}, "header:x-api-key=a%FF%C3"},
		{"nothing", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			if got := JoinKey(tt.parts...); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// scenario 32: where one part ends and the next begins is part of the key.
func TestJoinedPartsDoNotRunTogether(t *testing.T) {
	t.Parallel()
	seen := make(map[string][]string)
	for _, values := range [][]string{
		{"a_b", "c"}, {"a", "b_c"}, {"a&func=b", "c"}, {"a", "b&func=c"}, {"a=b", "c"}, {"a", "b=c"},
		{"a%26func", "b"}, {"a&func", "b"}, {"a", ""}, {"", "a"}, {"a"}, {"", ""}, {""}, {"a&func"},
	} {
		var parts []KeyPart
		for _, v := range values {
			parts = append(parts, KeyPart{Kind: KeyFunc, Value: v})
		}
		key := JoinKey(parts...)
		if other, taken := seen[key]; taken {
			t.Errorf("%q and %q are both %s", values, other, key)
		}
		seen[key] = values
	}
}

func TestPlainKey(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"user:42":                      "user:42",
		"a&b=c%":                       "a&b=c%",
		"":                             "func",
		"func":                         "func=func",
		"func=func":                    "func=func=func",
		"ip=203.0.113.9/32":            "func=ip=203.0.113.9/32",
		"header:x-api-key=k&cookie:c":  "func=header:x-api-key=k%26cookie:c",
		"ip&x":                         "func=ip%26x",
		"ipv6":                         "ipv6",
		"attr:plan=pro":                "func=attr:plan=pro",
		"\xff":                         "\xff",
		"IP=203.0.113.9/32":            "IP=203.0.113.9/32",
		strings.Repeat("long ", 2_000): strings.Repeat("long ", 2_000),
	} {
		if got := PlainKey(value); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

// taken takes a joined key apart again.
func taken(t *testing.T, key string) (parts []KeyPart) {
	for text := range strings.SplitSeq(key, "&") {
		var p KeyPart
		head, value, _ := strings.Cut(text, "=")
		kind, name, _ := strings.Cut(head, ":")
		var errs [2]error
		p.Kind = KeyKind(kind)
		p.Name, errs[0] = url.PathUnescape(name)
		p.Value, errs[1] = url.PathUnescape(value)
		if errs != [2]error{} {
			t.Fatalf("%q: %v", key, errs)
		}
		parts = append(parts, p)
	}
	return parts
}

// FuzzJoinKey: a key says which parts it is made of, so no two lists of
// parts share one; and no plain key is a joined one.
func FuzzJoinKey(f *testing.F) {
	f.Add("x-api-key", "secret", "tenant", "acme")
	f.Add("a=b", "&cookie:c=", "%", "\xff\x00")
	f.Add("", "", "", "")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string) {
		parts := []KeyPart{{KeyHeader, name1, value1}, {KeyCookie, name2, value2}}
		key := JoinKey(parts...)
		if !utf8.ValidString(key) {
			t.Fatalf("%q is not UTF-8", key)
		}
		if got := taken(t, key); !slices.Equal(got, parts) {
			t.Fatalf("%q means %q, not %q", key, got, parts)
		}
		for _, value := range []string{key, value1} {
			plain := PlainKey(value)
			if plain == value && joined(value) || plain != value && !slices.Equal(taken(t, plain), []KeyPart{{KeyFunc, "", value}}) {
				t.Fatalf("%q as a plain key is %q", value, plain)
			}
		}
	})
}
