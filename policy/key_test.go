package policy

import (
	"net/url"
	"slices"
	"strings"
	"testing"
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
		"user:42":                     "user:42",
		"a&b=c%":                      "a&b=c%",
		"":                            "func",
		"func":                        "func=func",
		"func=func":                   "func=func=func",
		"ip=203.0.113.9/32":           "func=ip=203.0.113.9/32",
		"header:x-api-key=k&cookie:c": "func=header:x-api-key=k%26cookie:c",
		"ip&x":                        "func=ip%26x",
		"ipv6":                        "ipv6",
		"attr:plan=pro":               "func=attr:plan=pro",
		"\xff":                        "func=%FF",
		"IP=203.0.113.9/32":           "IP=203.0.113.9/32",
		strings.Repeat("k", 1024):     strings.Repeat("k", 1024),
		strings.Repeat("k", 1025):     "func=" + strings.Repeat("k", 947) + "%sha256=748e2efe27d14c00176ec823eff78abcd27d006a424e6c9acd6da927258e247a",
	} {
		if got := PlainKey(value); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

// What is too long for a key is told apart all the same, keeps its beginning and
// stays a key.
func TestLongKeys(t *testing.T) {
	t.Parallel()
	const most = MaxKeyBytes - len("header:x-api-key=")
	value := func(s string) string { return JoinKey(KeyPart{KeyHeader, "x-api-key", s}) }
	whole := value(strings.Repeat("k", most))
	if len(whole) != MaxKeyBytes || strings.Contains(whole, hashMark) {
		t.Errorf("the longest key that is kept whole has %d bytes: %s", len(whole), whole)
	}
	seen := map[string]string{whole: "the longest whole one"}
	for _, long := range []string{
		strings.Repeat("k", most+1), strings.Repeat("k", most) + "l", strings.Repeat("k", 1<<16),
		strings.Repeat("\xff", most), strings.Repeat("é", most), strings.Repeat("\U0001F600", most), "x" + strings.Repeat("\U0001F600", most),
	} {
		key := value(long)
		if err := CheckKey(key); err != nil || len(key) < MaxKeyBytes-3 {
			t.Errorf("%.20q: %d bytes, %v", long, len(key), err)
		}
		beginning, _, _ := strings.Cut(key, hashMark)
		if !strings.HasPrefix(JoinKey(KeyPart{KeyHeader, "x-api-key", long[:900]}), beginning[:200]) || len(beginning) < uncutBytes {
			t.Errorf("%.20q begins with %q", long, beginning)
		}
		for _, other := range []string{key, strings.TrimPrefix(key, "header:x-api-key="), strings.Replace(key, hashMark, "%25sha256=", 1)} {
			if got := value(other); got == key {
				t.Errorf("a header that holds %s has that key", other)
			}
		}
		if other, taken := seen[key]; taken {
			t.Errorf("%.20q and %s are both %s", long, other, key)
		}
		seen[key] = long[:8]
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
// parts share one, unless it is too long for that; and no plain key is a joined
// one.
func FuzzJoinKey(f *testing.F) {
	f.Add("x-api-key", "secret", "tenant", "acme")
	f.Add("a=b", "&cookie:c=", "%", "\xff\x00")
	f.Add("", "", "", "")
	f.Add("a", strings.Repeat("\xffé", MaxKeyBytes), "b", "%sha256=0")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string) {
		parts := []KeyPart{{KeyHeader, name1, value1}, {KeyCookie, name2, value2}}
		key := JoinKey(parts...)
		if err := CheckKey(key); err != nil {
			t.Fatalf("%q: %v", key, err)
		}
		longer := value2 + strings.Repeat("-", MaxKeyBytes)
		if long := JoinKey(parts[0], KeyPart{KeyCookie, name2, longer}); long == key || CheckKey(long) != nil ||
			long == JoinKey(parts[0], KeyPart{KeyCookie, name2, longer + "-"}) {
			t.Fatalf("%q is another key too", long)
		}
		if strings.Contains(key, hashMark) {
			return
		}
		if got := taken(t, key); !slices.Equal(got, parts) {
			t.Fatalf("%q means %q, not %q", key, got, parts)
		}
		for _, value := range []string{key, value1} {
			plain := PlainKey(value)
			if CheckKey(plain) != nil || plain == value && joined(value) {
				t.Fatalf("%q as a plain key is %q", value, plain)
			}
			if strings.Contains(plain, hashMark) {
				continue
			}
			if plain != value && !slices.Equal(taken(t, plain), []KeyPart{{KeyFunc, "", value}}) {
				t.Fatalf("%q as a plain key is %q", value, plain)
			}
		}
	})
}
