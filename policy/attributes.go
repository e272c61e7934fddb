package policy

import (
	"net/netip"
	"strings"
)

// Attributes is what a request says of itself, and what policies match and
// key by. What a request does not have is empty. The methods are called from
// one goroutine at a time, and the strings that they return are kept.
type Attributes interface {
	// Method is the request's method, such as "GET".
	Method() string
	// Host is the host asked for, with or without port, in any case.
	Host() string
	// Path is the path as it came: percent-encoded, not cleaned. Empty is the
	// root.
	Path() string
	// Addr is the client's address. The zero Addr: there is none.
	Addr() netip.Addr
	// IPKey is what the client's address is keyed by: its prefix, or one word
	// for all clients without one.
	IPKey() string
	// Header is the first field of the given name, which is in canonical form
	// such as "X-Api-Key".
	Header(name string) string
	// Cookie is the value of the first cookie of the given name.
	Cookie(name string) string
	// Query is the first value, decoded, of the query's parameter of the
	// given name.
	Query(name string) string
	// Repeats are the other values, in their order, of a header field
	// (KeyHeader), cookie (KeyCookie) or parameter (KeyQuery) that is there
	// several times. Usually there are none.
	Repeats(kind KeyKind, name string) []string
	// Attr is what the caller says of the request besides, by name.
	Attr(name string) string
}

// view is one request in the forms that policies compare.
type view struct {
	Attributes
	method, host, path string
	whole              string // the path with the parameters of its segments; empty: it is the same
	addr               netip.Addr
	captures           captures // of the path pattern that matched last
}

// see takes from a what most policies look at. The rest is asked for when it
// is needed. Nil says nothing.
func see(a Attributes) view {
	if a == nil {
		a = nothing{}
	}
	path, whole := readings(a.Path())
	return view{
		Attributes: a,
		method:     a.Method(),
		host:       normalHost(a.Host()),
		path:       path,
		whole:      whole,
		addr:       a.Addr().Unmap().WithZone(""),
	}
}

// value is what the request has at s.
func (v *view) value(s *source) string {
	switch s.kind {
	case KeyIP:
		return v.IPKey()
	case KeyHeader:
		return s.clean(v.Header(s.lookup))
	case KeyCookie:
		return v.Cookie(s.name)
	case KeyQuery:
		return v.Query(s.name)
	case KeyAttr:
		return v.Attr(s.name)
	case KeyMethod:
		return v.method
	case KeyHost:
		return v.host
	case KeyPath:
		if s.name == "" {
			return v.path
		}
		return v.captures[s.capture]
	default: // global has no value
		return ""
	}
}

// repeats are the values that the request has at s besides v.value(s).
func (v *view) repeats(s *source) []string {
	switch s.kind {
	case KeyHeader:
		return v.Repeats(s.kind, s.lookup)
	case KeyCookie, KeyQuery:
		return v.Repeats(s.kind, s.name)
	default: // can be there once
		return nil
	}
}

// only is the value that the request has at s. Of several that differ it is
// none: nobody knows by which of them the server goes.
func (v *view) only(s *source) string {
	value := v.value(s)
	for _, other := range v.repeats(s) {
		if s.clean(other) != value {
			return ""
		}
	}
	return value
}

// clean is a value as it counts. The space around a header field's is none of
// it (RFC 9110, section 5.5): HTTP/1 has taken it away, HTTP/2 may not have.
func (s *source) clean(value string) string {
	if s.kind == KeyHeader {
		return strings.Trim(value, " \t")
	}
	return value
}
