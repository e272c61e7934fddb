package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// fakeNode resolves requests as a node does and answers with results that a
// test sets. It records what reached it.
type fakeNode struct {
	set     *policy.Set
	results []limiter.Result // one for each limit; empty: all admit
	err     error            // returned beside the decision

	leaseErr error // of renewals; with one, releases are not done yet

	mu       sync.Mutex
	asked    []policy.Request
	resets   []string // policy/key
	released int
	settled  []int64 // costs
}

func newFake(t testing.TB, policies ...policy.Policy) *fakeNode {
	t.Helper()
	set, err := policy.NewSet(policies...)
	if err != nil {
		t.Fatal(err)
	}
	return &fakeNode{set: set}
}

func (n *fakeNode) Check(_ context.Context, r policy.Request) (policy.Decision, error) {
	applied, err := n.set.Apply(nil, &r, policy.MatchOptions{})
	if err != nil {
		return policy.Decision{}, err
	}
	n.mu.Lock()
	n.asked = append(n.asked, r)
	n.mu.Unlock()
	var limited []policy.Decision
	for i := range applied {
		d, uncounted := applied[i].Uncounted()
		if !uncounted {
			d = n.decide(applied[i].Plan, applied[i].Cost)
		}
		if len(d.Limits) > 0 {
			limited = append(limited, d)
		}
	}
	if len(limited) == 0 {
		return policy.Decision{Result: limiter.Result{Allowed: true, Source: limiter.SourceNone}, Cost: max(r.Cost, 1)}, n.err
	}
	return policy.Combine(limited[0], limited[1:]...), n.err
}

func (n *fakeNode) decide(plan *policy.Plan, cost int64) policy.Decision {
	results := n.results
	if len(results) == 0 {
		for _, c := range plan.Charges(nil, cost) {
			results = append(results, limiter.Result{
				Allowed: true, Limit: c.Limit.Count, Remaining: c.Limit.Count - c.Cost,
				NextUnit: 600 * time.Millisecond, ResetAfter: c.Limit.Period,
			})
		}
	}
	return plan.Decide(cost, results)
}

func (n *fakeNode) CheckAll(ctx context.Context, rs []policy.Request) []policy.Outcome {
	outcomes := make([]policy.Outcome, len(rs))
	for i := range rs {
		outcomes[i].Decision, outcomes[i].Err = n.Check(ctx, rs[i])
	}
	return outcomes
}

func (n *fakeNode) Reset(_ context.Context, policyName, key string) (policy.Decision, error) {
	applied, err := n.set.Apply(nil, &policy.Request{Policy: policyName, Key: key}, policy.MatchOptions{})
	if err != nil {
		return policy.Decision{}, err
	}
	n.resets = append(n.resets, policyName+"/"+key)
	return n.decide(applied[0].Plan, 0), n.err
}

func (n *fakeNode) Grant(ctx context.Context, r policy.Request) (policy.Grant, error) {
	d, err := n.Check(ctx, r)
	g := policy.Grant{Decision: d}
	if d.Allowed && !errors.Is(err, policy.ErrInput) {
		g.Token, g.TTL = "a-token", cmp.Or(r.TTL, limiter.DefaultTTL)
	}
	return g, err
}

func (n *fakeNode) Renew(_ context.Context, token string, ttl time.Duration) (policy.Grant, error) {
	if token != "a-token" {
		return policy.Grant{}, &policy.InputError{Field: "lease", Detail: "is not what this cluster gave"}
	}
	return policy.Grant{Decision: n.decide(n.plan(), 0), Token: token, TTL: cmp.Or(ttl, limiter.DefaultTTL)}, n.leaseErr
}

func (n *fakeNode) Release(_ context.Context, token string) (bool, error) {
	if token != "a-token" {
		return false, &policy.InputError{Field: "lease", Detail: "is not what this cluster gave"}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.released++
	return n.leaseErr == nil, nil
}

// plan is that of the first policy.
func (n *fakeNode) plan() *policy.Plan {
	applied, _ := n.set.Apply(nil, &policy.Request{Policy: n.set.Names()[0], Key: "k"}, policy.MatchOptions{})
	return applied[0].Plan
}

// Settle knows no receipt but "good".
func (n *fakeNode) Settle(_ context.Context, receipt string, actual int64) (policy.Decision, error) {
	if receipt != "good" {
		return policy.Decision{}, &policy.InputError{Field: "receipt", Detail: "is none", Expired: receipt == "old"}
	}
	n.settled = append(n.settled, actual)
	d := n.decide(n.plan(), 1)
	d.Cost = actual
	return d, n.err
}

func (n *fakeNode) Policies() *policy.Set { return n.set }

// api is a policy with two limits.
func api() policy.Policy {
	return policy.Policy{Name: "api", Limits: []limiter.Limit{
		{Name: "burst", Algorithm: limiter.TokenBucket, Count: 20, Period: time.Second},
		{Name: "minute", Algorithm: limiter.SlidingWindow, Count: 600, Period: time.Minute},
	}}
}

// bothDialects are the default ones.
var bothDialects = Fields{Dialects: []Dialect{IETF, Legacy}}

// serve sends one request to a handler.
func serve(h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// decoded is the answer's body as JSON.
func decoded[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("status %d, body %q: %v", w.Code, w.Body, err)
	}
	return v
}

// wantProblem checks that w is a problem of the given status and field whose
// detail contains the given words.
func wantProblem(t *testing.T, w *httptest.ResponseRecorder, status int, field, words string) {
	t.Helper()
	p := decoded[problem](t, w)
	if w.Code != status || p.Status != status || p.Title != http.StatusText(status) || p.Type != "about:blank" {
		t.Errorf("got status %d, problem %+v, want status %d", w.Code, p, status)
	}
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type %q", got)
	}
	if p.Field != field || !strings.Contains(p.Detail, words) {
		t.Errorf("got field %q, detail %q, want field %q, detail with %q", p.Field, p.Detail, field, words)
	}
}

// serveGone sends a POST of a client that has left already.
func serveGone(h http.Handler, target, body string) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(body)))
}
