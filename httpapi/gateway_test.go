package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// denied is a node that denies whatever its policies are asked, for 7 s.
func denied(t *testing.T, p policy.Policy) *fakeNode {
	n := newFake(t, p)
	for range p.Limits {
		n.results = append(n.results, limiter.Result{Limit: 20, RetryAfter: 6500 * time.Millisecond, NextUnit: 6500 * time.Millisecond})
	}
	return n
}

// byMode is a node whose failure mode answers.
func byMode(t *testing.T, mode policy.Unreachable, result limiter.Result) *fakeNode {
	n := newFake(t, policy.Policy{Name: "api", Limits: bucket("", 5), OnUnreachable: mode})
	n.results, n.err = []limiter.Result{result}, errors.New("out of reach")
	return n
}

func bucket(name string, count int64) []limiter.Limit {
	return []limiter.Limit{{Name: name, Algorithm: limiter.TokenBucket, Count: count, Period: time.Second}}
}

func TestGatewayAnswers(t *testing.T) {
	t.Parallel()
	paid := policy.Policy{Name: "api", Limits: bucket("", 5), DenyStatus: http.StatusPaymentRequired}
	exempt := policy.Policy{Name: "api", Limits: bucket("", 5), Exempt: []policy.Exemption{{Match: policy.Match{Path: "/free"}}}}
	for _, c := range []struct {
		why, target        string
		node               *fakeNode
		status             int
		rateLimit          string // of RateLimit; empty: absent
		retryAfter, marked string // Retry-After and X-RateLimit-Status
		kind               string // of the problem, its end; empty: there is none
	}{
		{"allowed", "/gateway", newFake(t, policy.Policy{Name: "api", Limits: bucket("", 5)}), 200, `"api";r=4;t=1`, "", "", ""},
		{"exempt", "/gateway/free", newFake(t, exempt), 200, "", "", "", ""},
		{"denied", "/gateway", denied(t, policy.Policy{Name: "api", Limits: bucket("", 5)}), 429, `"api";r=0;t=7`, "7", "", "#quota-exceeded"},
		{"denied below", "/gateway/x/y", denied(t, policy.Policy{Name: "api", Limits: bucket("", 5)}), 429, `"api";r=0;t=7`, "7", "", "#quota-exceeded"},
		{"denied for nginx", "/gateway?deny_status=403", denied(t, policy.Policy{Name: "api", Limits: bucket("", 5)}), 403, `"api";r=0;t=7`, "7", "429", "#quota-exceeded"},
		{"the client has no say", "/gateway/?deny_status=403", denied(t, policy.Policy{Name: "api", Limits: bucket("", 5)}), 429, `"api";r=0;t=7`, "7", "", "#quota-exceeded"},
		{"another status", "/gateway", denied(t, paid), 402, `"api";r=0;t=7`, "7", "", "#quota-exceeded"},
		{"another status for nginx", "/gateway?deny_status=403", denied(t, paid), 403, `"api";r=0;t=7`, "7", "402", "#quota-exceeded"},
		{"shadow", "/gateway", denied(t, policy.Policy{Name: "api", Limits: bucket("", 5), Shadow: true}), 200, "", "", "", ""},
		{"open", "/gateway", byMode(t, policy.Allow, limiter.Result{Allowed: true, Source: limiter.SourceFailOpen}), 200, "", "", "degraded", ""},
		{"share", "/gateway", byMode(t, policy.Local, limiter.Result{Allowed: true, Source: limiter.SourceShare, Remaining: 1, NextUnit: 1}), 200, `"api";r=1;t=1`, "", "degraded", ""},
		{"share used up", "/gateway", byMode(t, policy.Local, limiter.Result{Source: limiter.SourceShare, RetryAfter: 1, NextUnit: 1}), 429, `"api";r=0;t=1`, "1", "", "#temporary-reduced-capacity"},
		{"closed", "/gateway", byMode(t, policy.Deny, limiter.Result{Source: limiter.SourceFailClosed, RetryAfter: 1}), 503, "", "1", "", "#temporary-reduced-capacity"},
		{"closed for nginx", "/gateway?deny_status=403", byMode(t, policy.Deny, limiter.Result{Source: limiter.SourceFailClosed, RetryAfter: 1}), 503, "", "1", "", "#temporary-reduced-capacity"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			h := New(Options{Node: c.node, Fields: bothDialects}).Public()
			for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PROPFIND"} {
				w := serve(h, method, c.target, "ignored", "Cookie", "a=b")
				want := map[string]string{
					"RateLimit": c.rateLimit, "Retry-After": c.retryAfter, "X-RateLimit-Status": c.marked,
					"Cache-Control": "no-store", "Location": "", "Set-Cookie": "",
				}
				for name, value := range want {
					if got := strings.Join(w.Header().Values(name), "; "); got != value {
						t.Errorf("%s: %s is %q, want %q", method, name, got, value)
					}
				}
				if w.Code != c.status {
					t.Errorf("%s: status %d, want %d", method, w.Code, c.status)
				}
				if c.kind == "" || method == "HEAD" {
					if w.Body.Len() > 0 {
						t.Errorf("%s: body %q", method, w.Body)
					}
					continue
				}
				p := decoded[problem](t, w)
				if w.Header().Get("Content-Type") != "application/problem+json" || !strings.HasSuffix(p.Type, c.kind) || p.Status != c.status || len(p.Violated) != 1 {
					t.Errorf("%s: %q %+v", method, w.Header().Get("Content-Type"), p)
				}
			}
		})
	}
}

func TestGatewayRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, query, clients string }{
		{"other status", "deny_status=200", ""},
		{"no status", "deny_status=", ""},
		{"two", "deny_status=403&deny_status=403", ""},
		{"misspelt", "deny_staus=403", ""},
		{"another beside it", "deny_status=403&status=1", ""},
		{"not the client's", "deny_status=200", "deny_status=201"},
	} {
		n := newFake(t)
		w := serve(New(Options{Node: n}).Handler(), "POST", "/gateway?"+c.query, "", "X-Forwarded-Uri", "/a?"+c.clients)
		wantProblem(t, w, http.StatusBadRequest, "deny_status", "must be 403")
		if len(n.asked) != 0 || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: asked %d, header %v", c.why, len(n.asked), w.Header())
		}
	}
}

// Some gateways send their client's query along. It changes nothing.
func TestGatewayIgnoresTheClientsQuery(t *testing.T) {
	t.Parallel()
	api := policy.Policy{Name: "api", Limits: bucket("", 5)}
	for _, c := range []struct {
		query  string
		status int
	}{
		{"q=1", 429}, {"deny_status=200", 429}, {"deny_status=403&q", 429}, {"deny_status=4%303", 429}, {"a=;&%zz", 429},
		{"deny_status=403", 403}, // as nginx says itself
	} {
		for _, field := range []string{"X-Forwarded-Uri", "X-Original-Uri", "X-Original-Url"} {
			if w := serve(New(Options{Node: denied(t, api)}).Handler(), "GET", "/gateway?"+c.query, "", field, "/search?"+c.query); w.Code != c.status {
				t.Errorf("%s with %s: status %d, want %d", c.query, field, w.Code, c.status)
			}
		}
	}
}

// No client is cut off for what its key would be made of, and what it has several
// times makes none.
func TestGatewayCountsWhatever(t *testing.T) {
	t.Parallel()
	keyed := policy.Policy{Name: "api", Key: []string{"header:X-Api-Key | cookie:c | query:q | ip", "path"}, Limits: bucket("", 5)}
	long := strings.Repeat("k", policy.MaxKeyBytes)
	for _, c := range []struct {
		why    string
		header http.Header
		key    string // its beginning
	}{
		{"a long key", http.Header{"X-Api-Key": {long}}, "header:x-api-key=kkk"},
		{"a long path", http.Header{"X-Forwarded-Uri": {"/" + long}}, "ip=192.0.2.1/32&path=/kkk"},
		{"not UTF-8", http.Header{"X-Api-Key": {"\xff\xfe"}, "X-Forwarded-Uri": {"/\xff"}}, "header:x-api-key=%FF%FE&path=/%FF"},
		{"two keys", http.Header{"X-Api-Key": {"a", "b"}}, "ip=192.0.2.1/32&path=/"},
		{"two keys that are one", http.Header{"X-Api-Key": {"a", "a"}}, "header:x-api-key=a&path=/"},
		{"two cookies", http.Header{"X-Api-Key": {"a", "b"}, "Cookie": {"c=1", "c=2"}}, "ip=192.0.2.1/32&path=/"},
		{"two parameters", http.Header{"Cookie": {"c=1; c=2"}, "X-Forwarded-Uri": {"/a?q=1&q=2"}}, "ip=192.0.2.1/32&path=/a"},
		{"one parameter", http.Header{"Cookie": {"c=1; c=2"}, "X-Forwarded-Uri": {"/a?q=1&q=1"}}, "query:q=1&path=/a"},
	} {
		n := newFake(t, keyed)
		r := httptest.NewRequest(http.MethodGet, "/gateway", nil)
		r.Header = c.header
		w := httptest.NewRecorder()
		New(Options{Node: n}).Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK || len(n.asked) != 1 {
			t.Fatalf("%s: status %d, asked %d times", c.why, w.Code, len(n.asked))
		}
		applied, err := n.set.Apply(nil, &n.asked[0], policy.MatchOptions{})
		if err != nil || len(applied) != 1 || !strings.HasPrefix(applied[0].Key, c.key) {
			t.Errorf("%s: %+v, %v, want %s", c.why, applied, err, c.key)
		}
	}
}

// Nothing that looks like /gateway is.
func TestGatewayPaths(t *testing.T) {
	t.Parallel()
	h := New(Options{Node: newFake(t, policy.Policy{Name: "api", Limits: bucket("", 5)})}).Handler()
	for path, status := range map[string]int{
		"/gateway//": 200, "/gateway/../v1/policies": 200, "/gateway/.": 200, "/gateway/%2e%2e": 200,
		"/gateways": 404, "/gatewa": 404, "/v1/gateway": 404, "//gateway": 400, "/x/../gateway": 400,
	} {
		if w := serve(h, "GET", path, ""); w.Code != status {
			t.Errorf("%s: status %d, want %d", path, w.Code, status)
		}
	}
}

func TestGatewayKeys(t *testing.T) {
	t.Parallel()
	client, err := NewClientAddress(ClientAddressOptions{TrustedProxies: []string{"192.0.2.1"}, IPv4Prefix: 24})
	if err != nil {
		t.Fatal(err)
	}
	n := newFake(t)
	h := New(Options{Node: n, Client: client}).Handler()
	for _, c := range []struct{ forwardedFor, want string }{
		{"", "ip=192.0.2.0/24"},
		{"203.0.113.9", "ip=203.0.113.0/24"},
		{"198.51.100.7, 203.0.113.9", "ip=203.0.113.0/24"}, // the first is the client's invention
		{"2001:db8:1:2:3::4", "ip=2001:db8:1:2::/64"},
	} {
		n.asked = nil
		serve(h, "GET", "/gateway", "", "X-Forwarded-For", c.forwardedFor)
		if len(n.asked) != 1 {
			t.Fatalf("asked %d times", len(n.asked))
		}
		applied, err := n.set.Apply(nil, &n.asked[0], policy.MatchOptions{})
		if err != nil || len(applied) != 1 || applied[0].Key != c.want {
			t.Errorf("for %q: %+v, %v, want %q", c.forwardedFor, applied, err, c.want)
		}
	}
	// A connection without an address is one client, and counted once a request.
	r := httptest.NewRequest(http.MethodGet, "/gateway", nil)
	r.RemoteAddr = "@"
	h.ServeHTTP(httptest.NewRecorder(), r)
	if got := client.Unknown(); got != 1 {
		t.Errorf("%d requests without address, want 1", got)
	}
}

// The prefixes hold for addresses that checks tell of too.
func TestPrefixesOfChecks(t *testing.T) {
	t.Parallel()
	client, err := NewClientAddress(ClientAddressOptions{TrustedProxies: []string{NoProxies}, IPv4Prefix: 24, IPv6Prefix: 48})
	if err != nil {
		t.Fatal(err)
	}
	n := newFake(t, policy.Policy{Name: "api", Key: []string{"ip"}, Limits: bucket("", 5)})
	h := New(Options{Node: n, Client: client}).Handler()
	serve(h, "POST", "/v1/check", `{"attributes":{"ip":"203.0.113.9"}}`)
	serve(h, "POST", "/v1/check/batch", `{"checks":[{"attributes":{"ip":"2001:db8:1:2::3"}}]}`)
	if len(n.asked) != 2 {
		t.Fatalf("asked %d times", len(n.asked))
	}
	for i, want := range []string{"203.0.113.0/24", "2001:db8:1::/48"} {
		if got := n.asked[i].Attributes.IPKey(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// waitingNode waits for its owner as long as it may.
type waitingNode struct{ *fakeNode }

func (n waitingNode) Check(ctx context.Context, r policy.Request) (policy.Decision, error) {
	<-ctx.Done()
	return n.fakeNode.Check(ctx, r)
}

func TestGatewayDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := waitingNode{byMode(t, policy.Allow, limiter.Result{Allowed: true, Source: limiter.SourceFailOpen})}
		began := time.Now()
		w := serve(New(Options{Node: n}).Handler(), "GET", "/gateway", "")
		if waited := time.Since(began); w.Code != 200 || waited != gatewayBound {
			t.Errorf("status %d after %v", w.Code, waited)
		}
	})
}
