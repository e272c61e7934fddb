package httpapi

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// refusing is a Checker that finds every check to be wrong in its own way.
type refusing struct{ *fakeNode }

func (refusing) Check(_ context.Context, r policy.Request) (policy.Decision, error) {
	return policy.Decision{}, errors.Join(policy.ErrInput, errors.New(r.Key))
}

// A middleware that is put together wrongly says so, to the log once and to
// everybody else each time, and lets nobody pass.
func TestMisuse(t *testing.T) {
	t.Parallel()
	var nilNode *fakeNode
	node := newFake(t, api())
	app := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler was reached") })
	tests := []struct {
		why   string
		node  Checker
		opts  []Option
		app   http.Handler
		words string
	}{
		{"no node", nil, nil, app, "the node is nil"},
		{"the node of a failed start", nilNode, nil, app, "the node is nil"},
		{"no handler", node, nil, nil, "handler"},
		{"an unknown policy", node, []Option{WithPolicy("apj")}, app, `did you mean "api"`},
		{"a policy without name", node, []Option{WithPolicy("")}, app, "must name a policy"},
		{"the address of a failed start", node, []Option{WithClientAddress(nil)}, app, "WithClientAddress needs"},
		{"a failure mode of no kind", node, []Option{WithFailureMode(9)}, app, "WithFailureMode needs"},
		{"an unknown dialect", node, []Option{WithDialects("iett")}, app, "Dialects[0]"},
		{"none beside another", node, []Option{WithDialects(None, X)}, app, "stands alone"},
		{"too much jitter", node, []Option{WithJitter(0.5)}, app, "Jitter"},
		{"a negative cost", node, []Option{WithCost(func(*http.Request) int64 { return -1 })}, app, "negative cost"},
		{"no estimate and no cost", node, []Option{WithoutEstimate()}, app, "goes with WithCostAfter"},
		{"a node that settles nothing", node, []Option{WithCostAfter(func(int, http.Header, int64, time.Duration) int64 { return 1 })}, app, "needs a node with SettleSoon"},
		{"no policies", &fakeNode{set: emptySet()}, nil, app, "nothing would be limited"},
		{"a set of no policies", &fakeNode{}, nil, app, "nothing would be limited"},
		{"a node that refuses", refusing{node}, nil, app, "refuses"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			opts := slices.Concat(tt.opts, []Option{WithLogger(slog.New(slog.NewTextHandler(&log, nil))), WithLogger(nil)})
			h := Middleware(tt.node, ByHeader("X-Api-Key"), opts...)(tt.app)
			for range 3 {
				w := serve(h, http.MethodGet, "/", "", "X-Api-Key", "secret")
				wantProblem(t, w, http.StatusInternalServerError, "", tt.words)
				if strings.Contains(w.Body.String(), "secret") {
					t.Errorf("the key is in %s", w.Body)
				}
			}
			if lines := strings.Count(log.String(), "\n"); lines != 1 || strings.Contains(log.String(), "secret") {
				t.Errorf("logged %q, want one line without the key", log.String())
			}
		})
	}
}

// An infrastructure error comes with the failure mode's decision, which is
// all that the client hears of.
func TestFailureModes(t *testing.T) {
	t.Parallel()
	closed := limiter.Result{Source: limiter.SourceFailClosed, RetryAfter: 1e9, NextUnit: 1e9, Limit: 20}
	tests := []struct {
		why    string
		mode   policy.Unreachable
		result limiter.Result
		status int
		kind   string
	}{
		{"a share admits", policy.Local, limiter.Result{Allowed: true, Source: limiter.SourceShare, Limit: 6, Remaining: 5}, http.StatusOK, ""},
		{"a share denies", policy.Local, limiter.Result{Source: limiter.SourceShare, Limit: 6, RetryAfter: 1e9}, http.StatusTooManyRequests, reducedCapacity},
		{"no room to count", policy.Local, closed, http.StatusTooManyRequests, reducedCapacity},
		{"open", policy.Allow, limiter.Result{Allowed: true, Source: limiter.SourceFailOpen, Limit: 20}, http.StatusOK, ""},
		{"closed", policy.Deny, closed, http.StatusServiceUnavailable, reducedCapacity},
		{"counted after all", policy.Deny, limiter.Result{Limit: 20, RetryAfter: 1e9}, http.StatusTooManyRequests, quotaExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			p := policy.Default()
			p.OnUnreachable = tt.mode
			node := newFake(t, p)
			node.results, node.err = []limiter.Result{tt.result}, errors.New("out of reach")
			reached := false
			h := Middleware(node, ByMethod())(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
			w := serve(h, http.MethodGet, "/", "")
			if w.Code != tt.status || reached != (tt.status == http.StatusOK) {
				t.Errorf("got %d, reached %v: %s", w.Code, reached, w.Body)
			}
			if reached {
				return
			}
			if p := decoded[problem](t, w); p.Type != tt.kind || p.Status != tt.status {
				t.Errorf("got %+v, want type %s", p, tt.kind)
			}
			if got := w.Header().Get("Retry-After"); got != "1" {
				t.Errorf("Retry-After %q", got)
			}
		})
	}
}
