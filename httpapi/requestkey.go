package httpapi

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/murmurate/murmurate/policy"
)

// Key says by what the requests that reach a [Middleware] are told apart, and
// thereby limited. Keys of different kinds never share a counter, whatever
// clients send: a header that holds an address does not spend the limit of
// that address. The zero value is not usable.
//
// Requests that lack what a Key looks for (no such header, or an empty one)
// share one counter, which no request that has it can reach: leaving the key
// out is no way around the limit. [FirstOf] gives them another key, and
// [WithSkip] lets them pass.
//
// What a client makes up freely, such as a header that nobody checks or a
// method that does not exist, gives it as many counters as it likes. Limit by
// what the application authenticates, or by [ByClientAddress].
type Key struct {
	// parts appends the parts of a request's key.
	parts func(parts []policy.KeyPart, r *http.Request) []policy.KeyPart
	// plain, if not nil, makes the whole key instead, as long as this Key is
	// not a part of another.
	plain func(*http.Request) string
	fault string // what to change in how the Key was made
}

// of is the key of r.
func (k *Key) of(r *http.Request) string {
	if k.plain != nil {
		return policy.PlainKey(k.plain(r))
	}
	var room [4]policy.KeyPart
	return policy.JoinKey(k.parts(room[:0], r)...)
}

// ByHeader tells requests apart by the header field of the given name, whose
// case makes no difference. A request that has it several times, with different
// values, lacks it: nobody knows by which of them the application goes.
func ByHeader(name string) Key {
	switch {
	case !isToken(name):
		return faulty("ByHeader needs the name of a header field, such as X-Api-Key")
	case strings.EqualFold(name, "Host"):
		return faulty("ByHeader does not see the Host field, which net/http takes out of the header; use ByHost")
	}
	canonical := http.CanonicalHeaderKey(name)
	return one(policy.KeyHeader, strings.ToLower(name), func(r *http.Request) string {
		return only(r.Header[canonical])
	})
}

// ByCookie tells requests apart by the cookie of the given name, whose case
// matters. A request that has it several times, with different values, lacks
// it.
func ByCookie(name string) Key {
	if !isToken(name) {
		return faulty("ByCookie needs the name of a cookie, such as session")
	}
	return one(policy.KeyCookie, name, func(r *http.Request) string { return only(cookiesOf(r, name)) })
}

// only is what all of values are, without the space around it, or empty if they
// differ.
func only(values []string) string {
	if len(values) == 0 {
		return ""
	}
	first := trimSpace(values[0]) // HTTP/1 has done so, HTTP/2 may not have
	for _, other := range values[1:] {
		if trimSpace(other) != first {
			return ""
		}
	}
	return first
}

// cookieOf is the value of the first cookie of the given name, or empty.
func cookieOf(r *http.Request, name string) string {
	cookie, err := r.Cookie(name)
	if err != nil { // there is none
		return ""
	}
	return cookie.Value
}

// cookiesOf are the values of all cookies of the given name.
func cookiesOf(r *http.Request, name string) []string {
	var values []string
	for _, cookie := range r.CookiesNamed(name) {
		values = append(values, cookie.Value)
	}
	return values
}

// ByPathValue tells requests apart by a wildcard of the route's pattern
// ([http.Request.PathValue]). Only the router knows it, so the middleware
// must be inside: mux.Handle(pattern, middleware(handler)). Around the whole
// router every request lacks it.
func ByPathValue(name string) Key {
	if name == "" {
		return faulty("ByPathValue needs the name of a wildcard, such as tenant for /{tenant}/orders")
	}
	return one(policy.KeyPath, name, func(r *http.Request) string { return r.PathValue(name) })
}

// ByPattern tells requests apart by the pattern of their route
// ([http.Request.Pattern]), so that each route has a limit of its own, which
// all clients share; [Join] it with who they are. As for [ByPathValue], the
// middleware must be inside the router.
func ByPattern() Key {
	return one(policy.KeyPattern, "", func(r *http.Request) string { return r.Pattern })
}

// ByMethod tells requests apart by their method, made-up ones included.
func ByMethod() Key {
	return one(policy.KeyMethod, "", func(r *http.Request) string { return r.Method })
}

// ByHost tells requests apart by the host that they ask for, without the
// port, in lower case.
func ByHost() Key {
	return one(policy.KeyHost, "", func(r *http.Request) string {
		host := strings.ToLower(r.Host)
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		return strings.TrimSuffix(host, ".")
	})
}

// ByClientAddress tells requests apart by the address of the client, as a
// prefix. a says which proxies are trusted to name it; without any word on
// that there is no ClientAddress, because either everybody behind a proxy
// would share its limit or everybody could choose their own.
func ByClientAddress(a *ClientAddress) Key {
	if a == nil {
		return faulty("ByClientAddress needs the result of NewClientAddress; was its error looked at?")
	}
	return one(policy.KeyIP, "", a.Key)
}

// ByFunc tells requests apart by what f returns, such as the user that the
// application authenticated. Used alone, that is the key as it is: a counter
// of "user:42" is found and reset as such. The exceptions are values that
// begin as keys of the other kinds do (ip=, header:...) or are no keys
// ([policy.CheckKey]), which are marked as f's. In [Join] and [FirstOf] it is a part like others. f must be safe for
// concurrent use.
func ByFunc(f func(*http.Request) string) Key {
	if f == nil {
		return faulty("ByFunc needs a function")
	}
	key := one(policy.KeyFunc, "", f)
	key.plain = f
	return key
}

// Join tells requests apart by all of keys together: each combination has a
// counter of its own. "a_b" with "c" is not "a" with "b_c".
func Join(keys ...Key) Key {
	if fault := faultOf("Join", keys); fault != "" {
		return faulty(fault)
	}
	keys = slices.Clone(keys)
	return Key{parts: func(parts []policy.KeyPart, r *http.Request) []policy.KeyPart {
		for i := range keys {
			parts = keys[i].parts(parts, r)
		}
		return parts
	}}
}

// FirstOf tells requests apart by the first of keys that they have: an API
// key, say, or else the client's address. A request has a [Join] if it has
// all of its parts. One that has none of keys counts as lacking the last.
func FirstOf(keys ...Key) Key {
	if fault := faultOf("FirstOf", keys); fault != "" {
		return faulty(fault)
	}
	keys = slices.Clone(keys)
	return Key{parts: func(parts []policy.KeyPart, r *http.Request) []policy.KeyPart {
		before := len(parts)
		for i := range keys {
			parts = keys[i].parts(parts[:before], r)
			if complete(parts[before:]) {
				break
			}
		}
		return parts
	}}
}

// one is the Key of a single part.
func one(kind policy.KeyKind, name string, value func(*http.Request) string) Key {
	return Key{parts: func(parts []policy.KeyPart, r *http.Request) []policy.KeyPart {
		return append(parts, policy.KeyPart{Kind: kind, Name: name, Value: value(r)})
	}}
}

func complete(parts []policy.KeyPart) bool {
	for i := range parts {
		if parts[i].Value == "" {
			return false
		}
	}
	return true
}

func faulty(fault string) Key { return Key{fault: fault} }

// faultOf is the first fault among keys, which maker puts together.
func faultOf(maker string, keys []Key) string {
	if len(keys) == 0 {
		return maker + " needs at least one key"
	}
	for i := range keys {
		if fault := keys[i].check(); fault != "" {
			return fault
		}
	}
	return ""
}

// check returns what to change, or nothing.
func (k *Key) check() string {
	if k.fault == "" && k.parts == nil {
		return "the key is the zero Key, which says nothing of requests; make one with ByHeader, ByClientAddress, ByFunc and their like"
	}
	return k.fault
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2), as the
// names of header fields and cookies are.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}
