package policy

import (
	"net/netip"
	"testing"
)

// request is a request for tests, and its zero value is one from nowhere.
type request struct {
	method, host, path, ip       string
	header, cookie, query, attrs map[string]string
}

func (r request) Method() string            { return r.method }
func (r request) Host() string              { return r.host }
func (r request) Path() string              { return r.path }
func (r request) Header(name string) string { return r.header[name] }
func (r request) Cookie(name string) string { return r.cookie[name] }
func (r request) Query(name string) string  { return r.query[name] }
func (r request) Attr(name string) string   { return r.attrs[name] }

func (r request) Addr() netip.Addr {
	addr, _ := netip.ParseAddr(r.ip) // none is the zero Addr
	return addr
}

func (r request) IPKey() string {
	if r.ip == "" {
		return "unknown"
	}
	return r.ip + "/32"
}

// names says which policies apply.
func names(found []Applied) []string {
	var list []string
	for i := range found {
		list = append(list, found[i].Plan.Policy().Name)
	}
	return list
}

// apply is what the only policy that applies to r says.
func apply(t *testing.T, s *Set, r request, o MatchOptions) Applied {
	t.Helper()
	found, err := s.Match(nil, r, o)
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v: %v (%v)", r, names(found), err)
	}
	return found[0]
}

type fields = map[string]string
