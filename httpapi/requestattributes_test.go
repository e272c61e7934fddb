package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

func TestRequestAttributes(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPatch, "http://API.example.com:80/v1/a%2Fb/../c?q=x+y&q=2&empty=", nil)
	r.RemoteAddr = "[::ffff:10.0.0.1]:4000"
	r.Header = http.Header{
		"X-Api-Key": {"k", "other"}, "Cookie": {"session=s; session=t"}, "X-Forwarded-For": {"2001:db8:1:2:3::4"},
	}
	proxied, err := NewClientAddress(ClientAddressOptions{TrustedProxies: []string{"10.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	bare := &requestAttributes{request: r}
	full := &requestAttributes{request: r, address: proxied, attr: func(r *http.Request, name string) string { return name + " of " + r.Method }}
	for _, tt := range []struct{ what, got, want string }{
		{"method", bare.Method(), "PATCH"},
		{"host", bare.Host(), "API.example.com:80"},
		{"path", bare.Path(), "/v1/a%2Fb/../c"},
		{"query", bare.Query("q"), "x y"},
		{"query that is empty", bare.Query("empty"), ""},
		{"query that is not there", bare.Query("x"), ""},
		{"header", bare.Header("X-Api-Key"), "k"},
		{"cookie", bare.Cookie("session"), "s"},
		{"cookie that is not there", bare.Cookie("x"), ""},
		{"address key without option", bare.IPKey(), "unknown"},
		{"attribute without option", bare.Attr("plan"), ""},
		{"address", full.Addr().String(), "2001:db8:1:2:3::4"},
		{"address key", full.IPKey(), "2001:db8:1:2::/64"},
		{"attribute", full.Attr("plan"), "plan of PATCH"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %q, want %q", tt.what, tt.got, tt.want)
		}
	}
	if bare.Addr().IsValid() {
		t.Errorf("without option the address is %v", bare.Addr())
	}
	sameRepeats(t, &requestAttributes{request: r}, "X-Api-Key", "q")
}

// sameRepeats checks what is behind the first of fields with two values, and
// of those that are there once or not at all.
func sameRepeats(t *testing.T, a policy.Attributes, header, query string) {
	t.Helper()
	if got := a.Repeats(policy.KeyHeader, header); len(got) != 1 || got[0] != "other" {
		t.Errorf("repeats of the header: %q", got)
	}
	if got := a.Repeats(policy.KeyQuery, query); len(got) != 1 || got[0] != "2" {
		t.Errorf("repeats of the parameter: %q", got)
	}
	if got := append(a.Repeats(policy.KeyHeader, "X-Forwarded-For"), a.Repeats(policy.KeyQuery, "no")...); len(got) != 0 {
		t.Errorf("repeats of what is there once, or not at all: %q", got)
	}
}

// One check is asked for, with what policies look at; those that do not match
// and those that exempt say nothing.
func TestMiddlewareMatches(t *testing.T) {
	t.Parallel()
	direct, err := NewClientAddress(ClientAddressOptions{TrustedProxies: []string{NoProxies}})
	if err != nil {
		t.Fatal(err)
	}
	search := policy.Policy{
		Name: "search", Match: policy.Match{Path: "/search"},
		Limits: []limiter.Limit{{Algorithm: limiter.TokenBucket, Count: 10, Period: time.Minute}},
		Tiers: policy.Tiers{By: "attr:plan", Sets: []policy.TierSet{{Name: "pro", Limits: []limiter.Limit{
			{Algorithm: limiter.TokenBucket, Count: 100, Period: time.Minute}}}}},
		Exempt: []policy.Exemption{{CIDR: "10.0.0.0/8"}},
	}
	posts := policy.Policy{
		Name: "posts", Match: policy.Match{Method: []string{"POST"}},
		Limits: []limiter.Limit{{Algorithm: limiter.TokenBucket, Count: 5, Period: time.Minute}},
	}
	tests := []struct {
		why, method, target, from, plan string
		opts                            []Option
		policies                        string // RateLimit-Policy
	}{
		{"none", "GET", "/other", "", "", nil, ""},
		{"one", "GET", "/search", "", "", nil, `"search";q=10;w=60`},
		{"one, on the path's normal form", "GET", "/a/..//search", "", "", nil, `"search";q=10;w=60`},
		{"two", "POST", "/search", "", "", nil, `"search";q=10;w=60, "posts";q=5;w=60`},
		{"a tier", "GET", "/search", "", "pro", nil, `"search";q=100;w=60`},
		{"exempt", "GET", "/search", "10.1.2.3:80", "", nil, ""},
		{"exempt from one of two", "POST", "/search", "10.1.2.3:80", "", nil, `"posts";q=5;w=60`},
		{"exactly one", "GET", "/search", "", "", []Option{WithPolicy("posts")}, `"posts";q=5;w=60`},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			node := newFake(t, search, posts)
			seen := false
			opts := append([]Option{WithClientAddress(direct), WithAttributes(func(_ *http.Request, name string) string {
				if name == "plan" {
					return tt.plan
				}
				return ""
			})}, tt.opts...)
			h := Middleware(node, ByMethod(), opts...)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, seen = DecisionFrom(r.Context()) }))
			r := httptest.NewRequest(tt.method, tt.target, nil)
			if tt.from != "" {
				r.RemoteAddr = tt.from
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK || !seen || len(node.asked) != 1 {
				t.Fatalf("got %d, a decision in the context: %v, asked %d times", w.Code, seen, len(node.asked))
			}
			if got := w.Header().Get("RateLimit-Policy"); got != tt.policies {
				t.Errorf("RateLimit-Policy is %q, want %q", got, tt.policies)
			}
			if limited := w.Header().Get("RateLimit-Limit") != ""; limited != (tt.policies != "") {
				t.Errorf("fields are %v", w.Header())
			}
		})
	}
}

// A middleware that had nothing to limit leaves what another decided.
func TestNestedWithNothingToLimit(t *testing.T) {
	t.Parallel()
	limited := newFake(t, policy.Default())
	idle := newFake(t, keyed("idle", policy.Match{Path: "/nowhere"}, "ip"))
	for why, order := range map[string][2]*fakeNode{"inside": {limited, idle}, "outside": {idle, limited}} {
		var d policy.Decision
		app := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { d, _ = DecisionFrom(r.Context()) })
		w := serve(Middleware(order[0], ByMethod())(Middleware(order[1], ByMethod())(app)), http.MethodGet, "/", "")
		if d.Policy != policy.DefaultName || d.Source != limiter.SourceOwner || w.Header().Get("RateLimit-Limit") != "100" {
			t.Errorf("%s: the handler saw %+v, the client %v", why, d, w.Header())
		}
	}
}

// Only a policy that applies and delays is worth a look beforehand.
func TestLooksBeforehand(t *testing.T) {
	t.Parallel()
	leaky := policy.Policy{Name: "leaky", Match: policy.Match{Path: "/queue"}, Limits: []limiter.Limit{
		{Algorithm: limiter.LeakyBucket, Count: 1, Period: time.Second, Burst: 5}}}
	for _, tt := range []struct {
		target  string
		hurried bool
		asked   []bool // whether for a look
	}{
		{"/queue", true, []bool{true, false}},
		{"/queue", false, []bool{false}},
		{"/", true, []bool{false}},
	} {
		node := newFake(t, leaky, policy.Default())
		h := Middleware(node, ByMethod())(http.NotFoundHandler())
		if tt.hurried {
			h = http.TimeoutHandler(h, time.Hour, "")
		}
		serve(h, http.MethodGet, tt.target, "")
		if len(node.asked) != len(tt.asked) {
			t.Fatalf("%+v: asked %d times", tt, len(node.asked))
		}
		for i, peek := range tt.asked {
			if node.asked[i].Peek != peek {
				t.Errorf("%+v: asked %+v", tt, node.asked[i])
			}
		}
	}
}

// A policy in shadow makes nobody wait longer.
func TestRetryAfterLeavesOutShadow(t *testing.T) {
	t.Parallel()
	wait := func(d time.Duration) limiter.Result { return limiter.Result{RetryAfter: d} }
	d := policy.Decision{Limits: []policy.LimitResult{
		{Result: wait(limiter.Never), Shadow: true}, {Result: wait(2 * time.Second)}, {Result: wait(time.Hour), Shadow: true},
	}}
	if got := retryAfter(fieldsOf(nil, &d)); got != 2 {
		t.Errorf("got %d s, want 2", got)
	}
}
