package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// KeyKind is where a part of a key came from. It is part of the counter's
// identity: a header that holds an address is not that address.
type KeyKind string

// The kinds of parts that are taken from a request.
const (
	KeyIP      KeyKind = "ip"      // the client's address, as a prefix
	KeyHeader  KeyKind = "header"  // a header field, by its name in lower case
	KeyCookie  KeyKind = "cookie"  // a cookie, by its name
	KeyPath    KeyKind = "path"    // a segment of the path, by the name of its wildcard; without name, the path
	KeyPattern KeyKind = "pattern" // the pattern of the route
	KeyMethod  KeyKind = "method"  // the method
	KeyHost    KeyKind = "host"    // the host asked for
	KeyQuery   KeyKind = "query"   // a parameter of the query, by its name
	KeyAttr    KeyKind = "attr"    // what the caller says of the request, by name
	KeyGlobal  KeyKind = "global"  // everybody
	KeyFunc    KeyKind = "func"    // what a function of the operator's made of the request
)

// keyKinds are all words that a joined key can begin with.
var keyKinds = []KeyKind{
	KeyIP, KeyHeader, KeyCookie, KeyPath, KeyPattern, KeyMethod, KeyHost, KeyFunc,
	KeyQuery, KeyAttr, KeyGlobal,
}

// KeyPart is one part of a key.
type KeyPart struct {
	// Kind is where Value came from.
	Kind KeyKind
	// Name tells the parts of one kind apart, such as the header's name.
	// Empty where the kind has only one.
	Name string
	// Value is what the request has there. Empty: it has nothing, and shares
	// the counter of all requests that do not.
	Value string
}

// JoinKey makes one key of parts, such as
//
//	header:x-api-key=secret&path:tenant=acme
//
// Different parts never give the same key: '&' and '%' in names and values,
// and '=' in names, are written as %XX, as are control characters and bytes
// that are not UTF-8. A part without value is written without '=', which no
// value can bring about. Of what would be longer than MaxKeyBytes, such as with
// a large token, the end is replaced by "%sha256=" and the SHA-256 of all of it
// in hexadecimal; no value can bring that about either, since after a '%' come
// the two digits of a byte. So a key can always be counted.
func JoinKey(parts ...KeyPart) string {
	var b strings.Builder
	size := 0
	for i := range parts {
		size += len(parts[i].Kind) + len(parts[i].Name) + len(parts[i].Value) + len("&:=")
	}
	b.Grow(size)
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(string(p.Kind))
		if p.Name != "" {
			b.WriteByte(':')
			escape(&b, p.Name, '=')
		}
		if p.Value != "" {
			b.WriteByte('=')
			escape(&b, p.Value, '&')
		}
	}
	return bounded(b.String())
}

const (
	hashMark = "%sha256="
	// uncutBytes is how much of the beginning a key keeps at least that is
	// too long, so that it can be told by its prefix.
	uncutBytes = MaxKeyBytes - len(hashMark) - 2*sha256.Size - utf8.UTFMax
)

// bounded is a joined key in the length that is counted.
func bounded(key string) string {
	if len(key) <= MaxKeyBytes {
		return key
	}
	end := uncutBytes + utf8.UTFMax
	for !utf8.RuneStart(key[end]) {
		end--
	}
	hash := sha256.Sum256([]byte(key))
	return key[:end] + hashMark + hex.EncodeToString(hash[:])
}

// PlainKey makes a key of a value that the operator's own code made: the
// value as it is, so that the key can be looked up by it. Only a value that
// JoinKey could have made, so that nobody can name another's counter, and one
// that is no key (CheckKey) are joined as of KeyFunc.
func PlainKey(value string) string {
	if joined(value) || CheckKey(value) != nil {
		return JoinKey(KeyPart{Kind: KeyFunc, Value: value})
	}
	return value
}

// joined reports whether JoinKey could have made key, or another version of it.
func joined(key string) bool {
	kind := key
	if end := strings.IndexAny(key, ":=&"); end >= 0 {
		kind = key[:end]
	}
	return slices.Contains(keyKinds, KeyKind(kind))
}

// escape appends s with %XX for what would be read otherwise, extra included.
func escape(b *strings.Builder, s string, extra byte) {
	const digits = "0123456789ABCDEF"
	done := 0 // up to here
	for i := 0; i < len(s); {
		c, size := s[i], 1
		if c >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		plain := size > 1 || c >= ' ' && c < 0x7f && c != '%' && c != '&' && c != extra
		if !plain { // a byte of no rune has size 1
			b.WriteString(s[done:i])
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
			done = i + 1
		}
		i += size
	}
	b.WriteString(s[done:])
}
