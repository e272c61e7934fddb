package httpapi

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/murmurate/murmurate/policy"
)

// originalRequest is the request that a gateway asks about, put together from
// the head of the gateway's own. It is policy.Attributes.
//
// The fields of that head are as true as the gateway makes them: it has to
// write those that it uses itself, and not pass them on from its client. Of
// several lines of one field the last counts, since a gateway that only adds
// its own adds it there.
type originalRequest struct {
	method, host, path string
	rawQuery           string
	addr               netip.Addr // the zero Addr: there is none
	ipKey              string
	gateway            *http.Request // whose header and cookies are those of the client
	query              url.Values    // nil: not parsed yet
}

var _ policy.Attributes = (*originalRequest)(nil)

func (o *originalRequest) Method() string            { return o.method }
func (o *originalRequest) Host() string              { return o.host }
func (o *originalRequest) Path() string              { return o.path }
func (o *originalRequest) Addr() netip.Addr          { return o.addr }
func (o *originalRequest) IPKey() string             { return o.ipKey }
func (o *originalRequest) Header(name string) string { return o.gateway.Header.Get(name) }
func (o *originalRequest) Cookie(name string) string { return cookieOf(o.gateway, name) }
func (o *originalRequest) Attr(string) string        { return "" } // a gateway has no field for them

func (o *originalRequest) Query(name string) string { return o.parameters().Get(name) }

func (o *originalRequest) parameters() url.Values {
	if o.query == nil {
		o.query, _ = url.ParseQuery(o.rawQuery) // what is malformed is left out, as servers do
	}
	return o.query
}

func (o *originalRequest) Repeats(kind policy.KeyKind, name string) []string {
	if kind == policy.KeyQuery {
		return behindFirst(o.parameters()[name])
	}
	return repeatsIn(o.gateway, kind, name)
}

// newOriginalRequest is what the gateway's request r is about.
func newOriginalRequest(r *http.Request, client *ClientAddress) *originalRequest {
	o := &originalRequest{gateway: r, method: r.Method, host: r.Host}
	o.addr, o.ipKey = client.identify(r)
	if method := lastOf(r.Header, "X-Forwarded-Method", "X-Original-Method"); method != "" {
		o.method = method
	}
	originalURL := lastOf(r.Header, "X-Original-Url")
	if uri := lastOf(r.Header, "X-Forwarded-Uri", "X-Original-Uri"); uri != "" {
		_, o.path, o.rawQuery = splitTarget(uri)
	} else if originalURL != "" {
		_, o.path, o.rawQuery = splitTarget(originalURL)
	} else if path := strings.TrimPrefix(r.URL.EscapedPath(), gatewayPath); path != "" {
		o.path, o.rawQuery = path, r.URL.RawQuery
	}
	if list := lastOf(r.Header, "X-Forwarded-Host"); list != "" {
		o.host = strings.TrimSpace(list[strings.LastIndexByte(list, ',')+1:]) // by the nearest proxy
	} else if host, _, _ := splitTarget(originalURL); host != "" {
		o.host = host
	}
	return o
}

// lastOf is the last line of the first of the fields that is there and not
// empty. The names are in canonical form.
func lastOf(h http.Header, names ...string) string {
	for _, name := range names {
		if lines := h[name]; len(lines) > 0 && lines[len(lines)-1] != "" {
			return lines[len(lines)-1]
		}
	}
	return ""
}

// splitTarget takes the target of a request apart, in origin-form (a path) or
// absolute-form (RFC 9112, section 3.2), as it was written: what url.Parse
// refuses may still be served, and must be limited. A server knows no
// fragments, so what follows a # is dropped.
func splitTarget(target string) (host, path, query string) {
	target, _, _ = strings.Cut(target, "#")
	target, query, _ = strings.Cut(target, "?")
	scheme, rest, absolute := strings.Cut(target, "://")
	if !absolute || !isScheme(scheme) {
		return "", target, query
	}
	host = rest
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		host, path = rest[:slash], rest[slash:]
	}
	return host[strings.LastIndexByte(host, '@')+1:], path, query
}

// isScheme reports whether s is the scheme of a URI (RFC 3986, section 3.1).
func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if letter := 'a' <= c && c <= 'z'; !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(s[i]))) {
			return false
		}
	}
	return s != ""
}
