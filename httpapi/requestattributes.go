package httpapi

import (
	"net/http"
	"net/netip"
	"net/url"

	"github.com/murmurate/murmurate/policy"
)

// requestAttributes are those of a request that reached a middleware. It is
// policy.Attributes.
type requestAttributes struct {
	request *http.Request
	address *ClientAddress                            // nil: nobody says whose word counts, so there is no address
	attr    func(r *http.Request, name string) string // nil: there are none
	query   url.Values                                // nil: not parsed yet
}

var _ policy.Attributes = (*requestAttributes)(nil)

func (a *requestAttributes) Method() string            { return a.request.Method }
func (a *requestAttributes) Host() string              { return a.request.Host }
func (a *requestAttributes) Path() string              { return a.request.URL.EscapedPath() }
func (a *requestAttributes) Header(name string) string { return a.request.Header.Get(name) }
func (a *requestAttributes) Cookie(name string) string { return cookieOf(a.request, name) }

func (a *requestAttributes) Addr() netip.Addr {
	if a.address == nil {
		return netip.Addr{}
	}
	addr, _ := a.address.Of(a.request) // without one it is the zero Addr
	return addr
}

func (a *requestAttributes) IPKey() string {
	if a.address == nil {
		return unknownKey
	}
	return a.address.Key(a.request)
}

func (a *requestAttributes) Query(name string) string { return a.parameters().Get(name) }

func (a *requestAttributes) parameters() url.Values {
	if a.query == nil {
		a.query = a.request.URL.Query()
	}
	return a.query
}

func (a *requestAttributes) Repeats(kind policy.KeyKind, name string) []string {
	if kind == policy.KeyQuery {
		return behindFirst(a.parameters()[name])
	}
	return repeatsIn(a.request, kind, name)
}

// repeatsIn are the values of a header field or cookie of r behind the first.
func repeatsIn(r *http.Request, kind policy.KeyKind, name string) []string {
	if kind == policy.KeyCookie {
		return behindFirst(cookiesOf(r, name))
	}
	return behindFirst(r.Header[name])
}

func behindFirst(values []string) []string { return values[min(1, len(values)):] }

func (a *requestAttributes) Attr(name string) string {
	if a.attr == nil {
		return ""
	}
	return a.attr(a.request, name)
}
