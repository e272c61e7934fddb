package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/policy"
)

// original is the request that a gateway asks about with target and the header
// fields given as name, value and so on. An equal name adds a line.
func original(t testing.TB, method, target string, header ...string) *originalRequest {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return newOriginalRequest(r, New(Options{Node: newFake(t)}).client)
}

func TestOriginalRequest(t *testing.T) {
	t.Parallel()
	const own = "example.com" // the Host of httptest.NewRequest
	for _, c := range []struct {
		why, target              string
		header                   []string
		method, host, path, qOfQ string
	}{
		{"nothing said", "/gateway", nil, "PUT", own, "/", ""},
		{"the query of the fixed form is not the client's", "/gateway?q=ours", nil, "PUT", own, "/", ""},
		{"Caddy, Traefik", "/gateway", []string{"X-Forwarded-Method", "POST", "X-Forwarded-Uri", "/a/b?q=1", "X-Forwarded-Host", "api.test"},
			"POST", "api.test", "/a/b", "1"},
		{"ingress-nginx", "/gateway", []string{"X-Original-Method", "POST", "X-Original-Url", "https://api.test:8443/a?q=2"},
			"POST", "api.test:8443", "/a", "2"},
		{"nginx", "/gateway?deny_status=403", []string{"X-Original-Method", "GET", "X-Original-Uri", "/a?q=3&deny_status=1"}, "GET", own, "/a", "3"},
		{"Envoy", "/gateway/a/b?q=4", nil, "PUT", own, "/a/b", "4"},
		{"Envoy, as it was written", "/gateway//a/../%6Cogin?q=%2f", nil, "PUT", own, "/login", "/"},
		{"Envoy, the root", "/gateway/", nil, "PUT", own, "/", ""},

		{"the order of methods", "/gateway", []string{"X-Original-Method", "GET", "X-Forwarded-Method", "DELETE"}, "DELETE", own, "/", ""},
		{"the order of targets", "/gateway/d?q=d", []string{"X-Original-Url", "http://c.test/c?q=c", "X-Original-Uri", "/b?q=b", "X-Forwarded-Uri", "/a?q=a"},
			"PUT", "c.test", "/a", "a"},
		{"the second target", "/gateway/d?q=d", []string{"X-Original-Url", "http://c.test/c?q=c", "X-Original-Uri", "/b?q=b"}, "PUT", "c.test", "/b", "b"},
		{"the third target", "/gateway/d?q=d", []string{"X-Original-Url", "http://c.test/c?q=c"}, "PUT", "c.test", "/c", "c"},
		{"the order of hosts", "/gateway", []string{"X-Original-Url", "http://c.test/", "X-Forwarded-Host", "a.test"}, "PUT", "a.test", "/", ""},
		{"empty says nothing", "/gateway/d?q=d", []string{"X-Forwarded-Method", "", "X-Forwarded-Uri", "", "X-Forwarded-Host", ""}, "PUT", own, "/d", "d"},

		{"the last line is the gateway's", "/gateway", []string{"X-Forwarded-Uri", "/free", "X-Forwarded-Uri", "/paid", "X-Forwarded-Method", "GET", "X-Forwarded-Method", "POST"},
			"POST", own, "/paid", ""},
		{"the last host is by the nearest proxy", "/gateway", []string{"X-Forwarded-Host", "forged.test, api.test"}, "PUT", "api.test", "/", ""},

		{"absolute-form", "/gateway", []string{"X-Forwarded-Uri", "http://other.test/login?q=1"}, "PUT", own, "/login", "1"},
		{"absolute-form without a path", "/gateway", []string{"X-Forwarded-Uri", "HTTP://other.test?q=1"}, "PUT", own, "/", "1"},
		{"a path that holds a URL", "/gateway", []string{"X-Forwarded-Uri", "/to/http://x.test/y"}, "PUT", own, "/to/http:/x.test/y", ""},
		{"a query that holds a URL", "/gateway", []string{"X-Forwarded-Uri", "/to?q=http://x.test/?y"}, "PUT", own, "/to", "http://x.test/?y"},
		{"a path without scheme", "/gateway", []string{"X-Forwarded-Uri", "1http://x/y"}, "PUT", own, "/1http:/x/y", ""},
		{"user information", "/gateway", []string{"X-Original-Url", "http://u:p@api.test/x"}, "PUT", "api.test", "/x", ""},
		{"a path of a URL field", "/gateway", []string{"X-Original-Url", "/x?q=5"}, "PUT", own, "/x", "5"},
		{"many slashes", "/gateway", []string{"X-Forwarded-Uri", "//login//?q=1"}, "PUT", own, "/login", "1"},
		{"a fragment", "/gateway", []string{"X-Forwarded-Uri", "/login#a?q=1"}, "PUT", own, "/login", ""},
		{"broken encoding", "/gateway", []string{"X-Forwarded-Uri", "/lo%gin?q=%zz&q=2"}, "PUT", own, "/lo%25gin", "2"},
	} {
		o := original(t, http.MethodPut, c.target, c.header...)
		got := []string{o.Method(), o.Host(), policy.NormalPath(o.Path()), o.Query("q")}
		if want := []string{c.method, c.host, c.path, c.qOfQ}; strings.Join(got, " | ") != strings.Join(want, " | ") {
			t.Errorf("%s: %q, want %q", c.why, got, want)
		}
	}
}

func TestOriginalRequestHasTheClientsHead(t *testing.T) {
	t.Parallel()
	o := original(t, http.MethodGet, "/gateway", "X-Api-Key", "k", "Cookie", "session=s", "X-Forwarded-For", "203.0.113.9")
	if o.Header("X-Api-Key") != "k" || o.Cookie("session") != "s" || o.Attr("user") != "" {
		t.Errorf("key %q, session %q, user %q", o.Header("X-Api-Key"), o.Cookie("session"), o.Attr("user"))
	}
	if o.Addr().String() != "192.0.2.1" || o.IPKey() != "192.0.2.1/32" { // the peer, which nobody said to trust
		t.Errorf("address %v, key %q", o.Addr(), o.IPKey())
	}
	o = original(t, http.MethodGet, "/gateway", "X-Api-Key", "k", "X-Api-Key", "other", "X-Forwarded-Uri", "/x?q=1&q=2", "X-Forwarded-For", "203.0.113.9")
	sameRepeats(t, o, "X-Api-Key", "q")
}

// However a gateway says it, the request is the same.
func FuzzOriginalRequest(f *testing.F) {
	for _, target := range []string{
		"/", "/a/b?q=1", "//a", "/%6Cogin", "/x/../login?q=%2F", "/a#b?q=c", "/?", "http://h/p?q=1", "HTTP://u@h?q=1", "*", "1://x", "/%zz?q=%zz",
		"/http://a/?q=http://b/?c", "?q=1", "/\xff",
	} {
		f.Add(target)
	}
	f.Fuzz(func(t *testing.T, target string) {
		if target == "" {
			return // not said
		}
		one := original(t, http.MethodGet, "/gateway?q=ours", "X-Forwarded-Uri", target)
		path := policy.NormalPath(one.Path())
		if strings.ContainsAny(one.Path(), "?#") {
			t.Errorf("path %q", one.Path())
		}
		for _, other := range []*originalRequest{
			original(t, http.MethodGet, "/gateway/d?q=d", "X-Original-Uri", target),
			original(t, http.MethodGet, "/gateway", "X-Original-Url", target),
		} {
			if got := policy.NormalPath(other.Path()); got != path || other.Query("q") != one.Query("q") {
				t.Errorf("%q: path %q, q %q, but also %q, %q", target, path, one.Query("q"), got, other.Query("q"))
			}
		}
		r, err := http.NewRequest(http.MethodGet, gatewayPath+target, nil)
		if err != nil || target[0] != '/' || r.URL.EscapedPath()+"?"+r.URL.RawQuery != gatewayPath+target {
			return // no path that reaches a server so
		}
		prefixed := newOriginalRequest(r, New(Options{Node: newFake(t)}).client)
		if got := policy.NormalPath(prefixed.Path()); got != path || prefixed.Query("q") != one.Query("q") {
			t.Errorf("%q: path %q, q %q, but %q, %q as a prefix", target, path, one.Query("q"), got, prefixed.Query("q"))
		}
	})
}
