package httpapi

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/policy"
)

// ordinary is a request that has everything.
func ordinary() *http.Request {
	r := httptest.NewRequest(http.MethodPut, "http://API.Example.:8080/v1/x", nil)
	r.RemoteAddr = "203.0.113.9:4711"
	r.Header.Add("X-Api-Key", "secret")
	r.Header.Add("X-Api-Key", "secret\t")
	r.Header.Add("X-Several", "one")
	r.Header.Add("X-Several", "two")
	r.Header.Set("X-Spaces", " \ta b ")
	r.Header.Set("X-Address", "203.0.113.9/32")
	r.Header.Set("Cookie", "sid=5; sid=5; Sid=7; several=1; several=2")
	r.Pattern = "PUT /v1/{tenant}"
	r.SetPathValue("tenant", "acme & co")
	return r
}

func address(t testing.TB) *ClientAddress {
	t.Helper()
	a, err := NewClientAddress(ClientAddressOptions{TrustedProxies: []string{"none"}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestKeys(t *testing.T) {
	t.Parallel()
	user := ByFunc(func(*http.Request) string { return "user:42" })
	nobody := ByFunc(func(*http.Request) string { return "" })
	posing := ByFunc(func(r *http.Request) string { return "ip=" + r.Header.Get("X-Address") })
	tests := []struct {
		why  string
		key  Key
		want string
	}{
		{"a header", ByHeader("x-api-key"), "header:x-api-key=secret"},
		{"the case of its name makes no difference", ByHeader("X-API-KEY"), "header:x-api-key=secret"},
		{"spaces around it do not", ByHeader("X-Spaces"), "header:x-spaces=a b"},
		{"no such header", ByHeader("X-Other"), "header:x-other"},
		{"several of them", ByHeader("X-Several"), "header:x-several"},
		{"several of them, and another key", FirstOf(ByHeader("X-Several"), ByCookie("several"), ByMethod()), "method=PUT"},
		{"a cookie", ByCookie("sid"), "cookie:sid=5"},
		{"the case of its name does", ByCookie("Sid"), "cookie:Sid=7"},
		{"no such cookie", ByCookie("SID"), "cookie:SID"},
		{"several cookies", ByCookie("several"), "cookie:several"},
		{"a wildcard of the route", ByPathValue("tenant"), "path:tenant=acme %26 co"},
		{"no such wildcard", ByPathValue("user"), "path:user"},
		{"the route", ByPattern(), "pattern=PUT /v1/{tenant}"},
		{"the method", ByMethod(), "method=PUT"},
		{"the host in its normal form", ByHost(), "host=api.example"},
		{"the address", ByClientAddress(address(t)), "ip=203.0.113.9/32"},
		{"an address in a header is none", ByHeader("X-Address"), "header:x-address=203.0.113.9/32"},
		{"a function's key as it is", user, "user:42"},
		{"unless it poses as another kind's", posing, "func=ip=203.0.113.9/32"},
		{"a function without an answer", nobody, "func"},
		{"joined", Join(ByHeader("X-Api-Key"), user, ByMethod()), "header:x-api-key=secret&func=user:42&method=PUT"},
		{"joined with one that is lacking", Join(ByHeader("X-Other"), user), "header:x-other&func=user:42"},
		{"joined with joined", Join(Join(ByMethod(), user), nobody), "method=PUT&func=user:42&func"},
		{"the first of two", FirstOf(ByHeader("X-Api-Key"), user), "header:x-api-key=secret"},
		{"the first that is there", FirstOf(ByHeader("X-Other"), user), "func=user:42"},
		{"none that is there", FirstOf(ByHeader("X-Other"), ByCookie("none")), "cookie:none"},
		{"the first that is there in full", FirstOf(Join(ByMethod(), ByHeader("X-Other")), ByMethod()), "method=PUT"},
		{"a choice within a joined key", Join(ByMethod(), FirstOf(ByHeader("X-Other"), ByCookie("sid")), user), "method=PUT&cookie:sid=5&func=user:42"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			if fault := tt.key.check(); fault != "" {
				t.Fatal(fault)
			}
			r := ordinary()
			for range 2 { // and again: no key keeps anything of a request
				if got := tt.key.of(r); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			}
		})
	}
}

func TestKeysThatSayNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why   string
		key   Key
		words string
	}{
		{"the zero Key", Key{}, "zero Key"},
		{"no name of a header", ByHeader(""), "ByHeader needs"},
		{"a colon too many", ByHeader("X-Api-Key:"), "ByHeader needs"},
		{"the Host field", ByHeader("host"), "use ByHost"},
		{"no name of a cookie", ByCookie("a=b"), "ByCookie needs"},
		{"no name of a wildcard", ByPathValue(""), "ByPathValue needs"},
		{"no address", ByClientAddress(nil), "NewClientAddress"},
		{"no function", ByFunc(nil), "ByFunc needs"},
		{"nothing joined", Join(), "Join needs"},
		{"nothing to choose from", FirstOf(), "FirstOf needs"},
		{"a fault within", Join(ByMethod(), FirstOf(ByCookie(""))), "ByCookie needs"},
		{"a zero Key within", FirstOf(Key{}), "zero Key"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			node := newFake(t)
			h := Middleware(node, tt.key)(http.NotFoundHandler())
			wantProblem(t, serve(h, http.MethodGet, "/", ""), http.StatusInternalServerError, "", tt.words)
			if len(node.asked) != 0 {
				t.Errorf("asked for %+v", node.asked)
			}
		})
	}
}

// A key does not change with the slice that it was made of.
func TestJoinKeepsItsKeys(t *testing.T) {
	t.Parallel()
	keys := []Key{ByMethod(), ByHost()}
	both, either := Join(keys...), FirstOf(keys...)
	keys[0], keys[1] = ByPattern(), Key{}
	if got := both.of(ordinary()); got != "method=PUT&host=api.example" {
		t.Error(got)
	}
	if got := either.of(ordinary()); got != "method=PUT" {
		t.Error(got)
	}
}

// A middleware works around a router, inside it, and inside of another one.
func TestKeysOfRoutes(t *testing.T) {
	t.Parallel()
	key := Join(ByPattern(), ByPathValue("tenant"))
	tests := []struct {
		why   string
		route func(limit func(http.Handler) http.Handler, app http.Handler) http.Handler
		want  string
	}{
		{"inside", func(limit func(http.Handler) http.Handler, app http.Handler) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("GET /t/{tenant}/orders", limit(app))
			return mux
		}, "pattern=GET /t/{tenant}/orders&path:tenant=acme"},
		{"outside, where no route is known yet", func(limit func(http.Handler) http.Handler, app http.Handler) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("GET /t/{tenant}/orders", app)
			return limit(mux)
		}, "pattern&path:tenant"},
		{"inside of a stripped and nested one", func(limit func(http.Handler) http.Handler, app http.Handler) http.Handler {
			inner := http.NewServeMux()
			inner.Handle("GET /{tenant}/orders", limit(app))
			middle := http.NewServeMux()
			middle.Handle("/t/", http.StripPrefix("/t", inner))
			outer := http.NewServeMux()
			outer.Handle("/", http.StripPrefix("", middle))
			return outer
		}, "pattern=GET /{tenant}/orders&path:tenant=acme"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			node := newFake(t)
			app := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte(r.PathValue("tenant")))
			})
			w := serve(tt.route(Middleware(node, key), app), http.MethodGet, "/t/acme/orders", "")
			if w.Code != http.StatusOK || w.Body.String() != "acme" || w.Header().Get("RateLimit") == "" {
				t.Errorf("got %d %q %v", w.Code, w.Body, w.Header())
			}
			if len(node.asked) != 1 || node.asked[0].DefaultKey != tt.want {
				t.Errorf("asked for %+v, want %s", node.asked, tt.want)
			}
		})
	}
}

// Nobody is cut off for what its key is made of.
func TestAnyKeyCanBeCounted(t *testing.T) {
	t.Parallel()
	fromHeader := ByFunc(func(r *http.Request) string { return r.Header.Get("X-Api-Key") })
	seen := make(map[string]bool)
	for _, key := range []Key{ByHeader("X-Api-Key"), fromHeader, Join(ByMethod(), fromHeader)} {
		for _, value := range []string{
			"", "\xff", strings.Repeat("k", policy.MaxKeyBytes), strings.Repeat("k", policy.MaxKeyBytes+1), strings.Repeat("\xff", 400), strings.Repeat("\xff", 4000),
		} {
			node := newFake(t)
			h := Middleware(node, key)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			w := serve(h, http.MethodGet, "/", "", "X-Api-Key", value)
			if w.Code != http.StatusOK || len(node.asked) != 1 || seen[node.asked[0].DefaultKey] {
				t.Errorf("%.20q: got %d, asked for %.100v", value, w.Code, node.asked)
				continue
			}
			seen[node.asked[0].DefaultKey] = true
		}
	}
}

func TestKeysOfOptions(t *testing.T) {
	t.Parallel()
	node := newFake(t, api(), policy.Default())
	h := Middleware(node, ByMethod(), nil, WithPolicy("api"), WithFailureMode(policy.Deny),
		WithCost(func(*http.Request) int64 { return 7 }))(http.NotFoundHandler())
	serve(h, http.MethodGet, "/", "")
	deny := policy.Deny
	if len(node.asked) != 1 || *node.asked[0].OnUnreachable != deny || node.asked[0].Attributes.Method() != http.MethodGet {
		t.Fatalf("asked for %+v", node.asked)
	}
	node.asked[0].OnUnreachable, node.asked[0].Attributes = nil, nil
	if want := []policy.Request{{Policy: "api", DefaultKey: "method=GET", Cost: 7}}; !slices.Equal(node.asked, want) {
		t.Errorf("asked for %+v, want %+v", node.asked, want)
	}
}
