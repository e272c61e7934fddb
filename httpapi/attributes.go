package httpapi

import (
	"fmt"
	"net/netip"
	"net/textproto"
	"strings"

	"github.com/murmurate/murmurate/policy"
)

// attributes are those of a check: what its caller says of a request. It is
// policy.Attributes.
type attributes struct {
	method, host, path      string
	addr                    netip.Addr
	prefixes                prefixBits
	query, headers, cookies map[string]string // headers by their canonical names
	others                  map[string]string // members without a meaning of their own
}

var _ policy.Attributes = (*attributes)(nil)

func (a *attributes) Method() string            { return a.method }
func (a *attributes) Host() string              { return a.host }
func (a *attributes) Path() string              { return a.path }
func (a *attributes) Addr() netip.Addr          { return a.addr }
func (a *attributes) IPKey() string             { return a.prefixes.key(a.addr) }
func (a *attributes) Header(name string) string { return a.headers[name] }
func (a *attributes) Cookie(name string) string { return a.cookies[name] }
func (a *attributes) Query(name string) string  { return a.query[name] }
func (a *attributes) Attr(name string) string   { return a.others[name] }

// Repeats are none: each name is there once.
func (a *attributes) Repeats(policy.KeyKind, string) []string { return nil }

// attributes reads what a check says of its request.
func (r *reader) attributes() (*attributes, error) {
	a := &attributes{others: make(map[string]string), prefixes: defaultPrefixes}
	err := r.members(func(name string) (err error) {
		switch name {
		case "ip":
			a.addr, err = r.address()
		case "method":
			a.method, err = r.text("")
		case "host":
			a.host, err = r.text("")
		case "path":
			a.path, err = r.text("")
		case "query":
			a.query, err = r.texts(asWritten)
		case "headers":
			a.headers, err = r.texts(textproto.CanonicalMIMEHeaderKey)
		case "cookies":
			a.cookies, err = r.texts(asWritten)
		default:
			if meant := misspelt(name); meant != "" {
				return fault("", "is no attribute of your own, it is too near to what requests have: write "+meant)
			}
			a.others[name], err = r.text("")
		}
		return err
	})
	return a, within("attributes", err)
}

// misspelt is the member that a name was meant for, or empty. A rule that is
// never matched because of a letter would be a limit that nobody has.
func misspelt(name string) string {
	switch lower := strings.ToLower(name); lower {
	case "ip", "method", "host", "path", "query", "headers", "cookies":
		return lower
	case "header", "cookie":
		return lower + "s"
	case "queries":
		return "query"
	}
	return ""
}

func asWritten(name string) string { return name }

// texts reads an object of strings, by the form of their names that is looked
// for.
func (r *reader) texts(form func(name string) string) (map[string]string, error) {
	texts := make(map[string]string)
	err := r.members(func(name string) error {
		key := form(name)
		if _, twice := texts[key]; twice {
			return fault("", "is given twice")
		}
		text, err := r.text("")
		texts[key] = text
		return err
	})
	return texts, err
}

// members calls set with the name of each member of the object that follows,
// whatever names it has, standing before its value. A member that is null is
// as one left out. The errors of set are of the value itself.
func (r *reader) members(set func(name string) error) error {
	if r.next() != '{' {
		return r.wrongType("", "an object")
	}
	r.pos++
	seen := make(map[string]bool)
	for r.more('}') {
		r.next()
		name, err := unquote(r.quoted())
		switch {
		case err != nil:
			return fault("", "holds a name that "+err.Error())
		case seen[name]:
			return fault(clip(name), "is given twice")
		}
		seen[name] = true
		r.next()
		r.pos++ // the colon
		if r.next() == 'n' {
			r.literal()
			continue
		}
		if err := set(name); err != nil {
			return within(clip(name), err)
		}
	}
	return nil
}

// address reads the address of a client.
func (r *reader) address() (netip.Addr, error) {
	text, err := r.text("")
	if err != nil {
		return netip.Addr{}, err
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Zone() != "" {
		return netip.Addr{}, fault("", fmt.Sprintf(
			"must be an IP address without port and zone, such as 203.0.113.9, got %q; leave it out if there is none", clip(text)))
	}
	return addr.Unmap(), nil
}
