package httpapi

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

func TestKeysAreLookedAtAndReset(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, policy, key string }{
		{"/v1/keys/api/user:42", "api", "user:42"},
		{"/v1/keys/api/a%2Fb%2F%2Fc", "api", "a/b//c"},
		{"/v1/keys/api/%2E%2E", "api", ".."},
		{"/v1/keys/api/%2F", "api", "/"},
		{"/v1/keys/api/caf%C3%A9%20%00%25", "api", "café \x00%"},
		{"/v1/keys/api/a+b;c", "api", "a+b;c"},
		{"/v1/keys/%61pi/" + strings.Repeat("k", policy.MaxKeyBytes), "api", strings.Repeat("k", policy.MaxKeyBytes)},
	}
	for _, tt := range tests {
		t.Run(tt.path[:min(len(tt.path), 40)], func(t *testing.T) {
			t.Parallel()
			node := newFake(t, api())
			h := New(Options{Node: node, OpenAdmin: true, Fields: bothDialects}).Handler()

			for _, method := range []string{"GET", "HEAD"} {
				w := serve(h, method, tt.path, "")
				if w.Code != http.StatusOK || w.Header().Get("RateLimit") == "" {
					t.Errorf("%s: status %d, headers %v", method, w.Code, w.Header())
				}
			}
			want := policy.Request{Policy: tt.policy, Key: tt.key, Peek: true}
			if !reflect.DeepEqual(node.asked, []policy.Request{want, want}) {
				t.Errorf("asked %+v, want %+v twice", node.asked, want)
			}

			d := decoded[decisionJSON](t, serve(h, "DELETE", tt.path, ""))
			if !d.Allowed || d.Policy != tt.policy || !reflect.DeepEqual(node.resets, []string{tt.policy + "/" + tt.key}) {
				t.Errorf("reset %q, decision %+v", node.resets, d)
			}
		})
	}
}

// A policy makes its keys of requests, and people call them by the value alone.
func TestKeysThatPoliciesMake(t *testing.T) {
	t.Parallel()
	h := servedBy(t, true)
	ask := func(what, method, path, body string, left int64) {
		t.Helper()
		if d := decoded[decisionJSON](t, serve(h, method, path, body)); d.Remaining != left {
			t.Errorf("%s: %d left, want %d", what, d.Remaining, left)
		}
	}
	const request = `{"policy":"keyed","attributes":{"headers":{"X-Api-Key":"k"}},"cost":7}`
	fp := func(key string) string {
		t.Helper()
		r := decoded[struct {
			Explain []explained `json:"explain"`
		}](t, serve(h, "POST", "/v1/check?explain=1", `{"attributes":{"path":"/v1/x","headers":{"X-Api-Key":"`+key+`"}},"peek":true}`))
		return r.Explain[1].Key
	}
	ask("a request", "POST", "/v1/check", request, 93)
	ask("a check of the key as given", "POST", "/v1/check", `{"policy":"keyed","key":"k"}`, 99)
	ask("the value", "GET", "/v1/keys/keyed/k", "", 93) // closer to denying
	ask("the value to a check", "POST", "/v1/check", `{"policy":"keyed","key":"k","peek":true}`, 99)
	ask("the whole key", "GET", "/v1/keys/keyed/header:X-Api-Key=k", "", 93)
	ask("the fingerprint", "GET", "/v1/keys/keyed/"+fp("k"), "", 93)
	ask("another value", "GET", "/v1/keys/keyed/other", "", 100)

	ask("a reset by the value", "DELETE", "/v1/keys/keyed/k", "", 100)
	ask("after that, a request", "POST", "/v1/check", request, 93)
	ask("after that, a check of the key as given", "POST", "/v1/check", `{"policy":"keyed","key":"k"}`, 99)
	ask("a reset by the fingerprint", "DELETE", "/v1/keys/keyed/"+fp("k"), "", 100)
	ask("after that, the value", "GET", "/v1/keys/keyed/k", "", 99) // of the key as given
}

// A key is looked at as of a tier, if that is said, and otherwise the answer says
// that there are tiers.
func TestKeysOfTiers(t *testing.T) {
	t.Parallel()
	type answer struct {
		decisionJSON
		Tier  string
		Tiers []string
	}
	p := api()
	p.Tiers = policy.Tiers{By: "attr:plan", Sets: []policy.TierSet{
		{Name: "pro", Limits: []limiter.Limit{{Name: "burst", Algorithm: limiter.TokenBucket, Count: 200, Period: time.Second}}},
		{Name: "team", Limits: []limiter.Limit{{Name: "minute", Algorithm: limiter.SlidingWindow, Count: 9000, Period: time.Minute}}},
	}}
	plain := api()
	plain.Name = "plain"
	h := New(Options{Node: newFake(t, p, plain), OpenAdmin: true}).Handler()
	for path, want := range map[string]answer{
		"/v1/keys/api/k":           {decisionJSON{Limit: 20}, "", []string{"pro", "team"}},
		"/v1/keys/api/k?tier=pro":  {decisionJSON{Limit: 200}, "pro", nil},
		"/v1/keys/api/k?tier=team": {decisionJSON{Limit: 20}, "team", nil},
		"/v1/keys/plain/k":         {decisionJSON{Limit: 20}, "", nil},
	} {
		w := serve(h, "GET", path, "")
		got := decoded[answer](t, w)
		if w.Code != http.StatusOK || got.Limit != want.Limit || got.Tier != want.Tier || !reflect.DeepEqual(got.Tiers, want.Tiers) {
			t.Errorf("%s: status %d, %s", path, w.Code, w.Body)
		}
	}
	for path, words := range map[string]string{
		"/v1/keys/api/k?tier=por":           `did you mean "pro"?`,
		"/v1/keys/plain/k?tier=pro":         `policy "plain" has no tiers`,
		"/v1/keys/api/k?tier=":              "must be the name of a tier",
		"/v1/keys/api/k?tier=pro&tier=team": "must be the name of a tier, once",
	} {
		wantProblem(t, serve(h, "GET", path, ""), http.StatusBadRequest, "tier", words)
	}
	wantProblem(t, serve(h, "DELETE", "/v1/keys/api/k?tier=pro", ""), http.StatusBadRequest, "tier", "is of GET")
}

// The counters of a key that has nothing left are found like any others.
func TestKeyWithNothingLeft(t *testing.T) {
	t.Parallel()
	p := api()
	p.Limits, p.OnUnreachable = p.Limits[:1], policy.Deny
	node := newFake(t, p)
	h := New(Options{Node: node}).Handler()

	node.results = []limiter.Result{{Limit: 20, RetryAfter: time.Second}}
	w := serve(h, "GET", "/v1/keys/api/a", "")
	if d := decoded[decisionJSON](t, w); w.Code != http.StatusOK || d.Allowed || w.Header().Get("Retry-After") != "" {
		t.Errorf("status %d, decision %+v, headers %v", w.Code, d, w.Header())
	}

	node.err = errors.New("out of reach")
	for _, c := range []struct {
		result limiter.Result
		status int
	}{
		{limiter.Result{Limit: 20, Source: limiter.SourceFailClosed, RetryAfter: time.Second}, 503},
		{limiter.Result{Limit: 20, Source: limiter.SourceFailOpen, Allowed: true}, 503}, // nobody knows
		{limiter.Result{Limit: 20, Source: limiter.SourceShare, Allowed: true, Remaining: 6}, 200},
		{limiter.Result{Limit: 20, Source: limiter.SourceShare, RetryAfter: time.Second}, 200},
	} {
		node.results = []limiter.Result{c.result}
		w := serve(h, "GET", "/v1/keys/api/a", "")
		if d := decoded[decisionJSON](t, w); w.Code != c.status || d.Source != c.result.Source.String() || strings.Contains(w.Body.String(), `"used"`) {
			t.Errorf("out of reach: status %d, %s; want %+v", w.Code, w.Body, c)
		}
	}
}

// What is used, and when it resets, of counters in every state.
func TestAppendCounter(t *testing.T) {
	t.Parallel()
	const month = 30 * 24 * time.Hour
	west := time.FixedZone("UTC-3", -3*3600)
	quota := limiter.Limit{Algorithm: limiter.Quota, Count: 10, Period: month, Align: limiter.AlignCalendar, Calendar: limiter.Month}
	there, first := quota, quota
	there.Zone = west
	first.Align, first.Calendar = limiter.AlignFirst, 0
	hour := limiter.Limit{Algorithm: limiter.FixedWindow, Count: 10, Period: time.Hour}
	bucket := limiter.Limit{Algorithm: limiter.TokenBucket, Count: 10, Period: time.Second, Burst: 40}
	now := time.Date(2026, time.November, 30, 23, 59, 57, 20_000_000, west)
	const rest = 2990 * time.Millisecond // as of a node whose clock is 10 ms ahead, or whose answer took as long
	for _, c := range []struct {
		what  string
		limit limiter.Limit
		r     limiter.Result
		want  string
	}{
		{"a quota", quota, limiter.Result{Allowed: true, Remaining: 4, ResetAfter: rest}, `"algorithm":"quota","used":6,"resets_at":"2026-12-01T03:00:00Z"`},
		{"in a zone", there, limiter.Result{Remaining: 0, ResetAfter: rest}, `"algorithm":"quota","used":10,"resets_at":"2026-12-01T00:00:00-03:00"`},
		{"unused", quota, limiter.Result{Allowed: true, Remaining: 10}, `"algorithm":"quota","used":0,"resets_at":"2027-01-01T00:00:00Z"`}, // it is December in UTC
		{"unused in a zone", there, limiter.Result{Allowed: true, Remaining: 10}, `"algorithm":"quota","used":0,"resets_at":"2026-12-01T00:00:00-03:00"`},
		{"unused, by the hour", hour, limiter.Result{Allowed: true, Remaining: 10}, `"algorithm":"fixed_window","used":0,"resets_at":"2026-12-01T03:00:00Z"`},
		{"unused, from the first call on", first, limiter.Result{Allowed: true, Remaining: 10}, `"algorithm":"quota","used":0`},
		{"a bucket with a burst", bucket, limiter.Result{Allowed: true, Remaining: 33, ResetAfter: time.Second}, `"algorithm":"token_bucket","used":7`},
		{"a share", quota, limiter.Result{Allowed: true, Remaining: 3, ResetAfter: rest, Source: limiter.SourceShare}, `"algorithm":"quota"`},
		{"nobody counts", quota, limiter.Result{Allowed: true, Source: limiter.SourceFailOpen}, `"algorithm":"quota"`},
		{"cooling down", quota, limiter.Result{Cooling: true, ResetAfter: rest}, `"algorithm":"quota"`},
		{"blocked", quota, limiter.Result{RetryAfter: limiter.Never, NextUnit: limiter.Never}, `"algorithm":"quota"`},
		{"a limit of nothing", limiter.Limit{Algorithm: limiter.Quota, Period: month}, limiter.Result{RetryAfter: limiter.Never}, `"algorithm":"quota","used":0,"resets_at":"2026-12-03T00:00:00Z"`},
	} {
		c.r.Limit = c.limit.Count
		d := policy.NewPlan(&policy.Policy{Name: "p", Limits: []limiter.Limit{c.limit}}).Decide(1, []limiter.Result{c.r})
		text := string(appendCounter(nil, &d.Limits[0], now))
		plain := string(appendLimit(nil, &d.Limits[0]))
		if want := strings.TrimSuffix(plain, "}") + "," + c.want + "}"; text != want {
			t.Errorf("%s:\n%s, want\n%s", c.what, text, want)
		}
	}
}

func TestKeyRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path, field, words string
		status             int
	}{
		{"/v1/keys/api/", "key", "must not be empty", 400},
		{"/v1/keys/api/a/b", "key", "escaped as %2F", 400},
		{"/v1/keys/api/10.0.0.0/8", "key", "escaped as %2F", 400},
		{"/v1/keys/api/what?x=1", "x", "write ? as %3F", 400},
		{"/v1/keys/api/" + strings.Repeat("k", policy.MaxKeyBytes+1), "key", "at most 1024 bytes", 400},
		{"/v1/keys/api/" + strings.Repeat("%00", 5000), "key", "at most 1024 bytes", 400},
		{"/v1/keys/api/%FF", "key", "valid UTF-8", 400},
		{"/v1/keys/apj/a", "policy", `did you mean "api"?`, 404},
		{"/v1/keys/a%2Fpi/a", "policy", "there is no policy", 404},
		{"/v1/keys/api", "", "there is no such path", 404},
		{"/v1/keys/", "", "there is no such path", 404},
	}
	for _, tt := range tests {
		t.Run(tt.path[:min(len(tt.path), 40)], func(t *testing.T) {
			t.Parallel()
			node := newFake(t, api())
			h := New(Options{Node: node, OpenAdmin: true}).Handler()
			for _, method := range []string{"GET", "DELETE"} {
				wantProblem(t, serve(h, method, tt.path, ""), tt.status, tt.field, tt.words)
			}
			if len(node.asked)+len(node.resets) != 0 {
				t.Errorf("the node was asked %v, reset %v", node.asked, node.resets)
			}
		})
	}
}

// A path that would have to be cleaned first is that of no key, and leads to
// none.
func TestUncleanPathsAreRefused(t *testing.T) {
	t.Parallel()
	node := newFake(t, api())
	a := New(Options{Node: node, OpenAdmin: true})
	for _, path := range []string{
		"/v1/keys/api//a", "/v1/keys/api/./a", "/v1/keys/api/x/../a", "//v1/keys/api/a", "/v1/keys//a", "/v1/keys/api/a//",
		"/v1/keys/api/.", "/v1/keys/api/..", "/v1/keys/api/../", "/v1/keys/./a", "/v1//check", "/v1/check/..", "//", "*",
	} {
		for _, h := range []http.Handler{a.Handler(), a.Public()} {
			for _, method := range []string{"GET", "DELETE", "POST", "OPTIONS"} {
				wantProblem(t, serve(h, method, path, ""), http.StatusBadRequest, "", "in a key write / as %2F")
			}
		}
	}
	if len(node.asked)+len(node.resets) != 0 {
		t.Errorf("asked %v, reset %q", node.asked, node.resets)
	}
}

// Keys that look like a path's parts can be asked for, with escapes.
func TestEscapedDotsAndSlashesReachTheirKey(t *testing.T) {
	t.Parallel()
	node := newFake(t, api())
	h := New(Options{Node: node, OpenAdmin: true}).Handler()
	for path, key := range map[string]string{
		"%2E": ".", "%2e%2E": "..", ".%2E": "..", "%2F": "/", "%2F%2Fa": "//a", "..%2Fa": "../a", "a%2F..%2Fb": "a/../b", "a%2F": "a/", "...": "...", ".a": ".a",
	} {
		node.resets = nil
		if w := serve(h, "DELETE", "/v1/keys/api/"+path, ""); w.Code != http.StatusOK || !reflect.DeepEqual(node.resets, []string{"api/" + key}) {
			t.Errorf("%s: status %d, reset %q, want %q", path, w.Code, node.resets, key)
		}
	}
}

func TestResetThatFailed(t *testing.T) {
	t.Parallel()
	node := newFake(t, api())
	node.err = errors.New("node n2 out of reach")
	var logged bytes.Buffer
	h := New(Options{Node: node, OpenAdmin: true, Logger: slog.New(slog.NewTextHandler(&logged, nil))}).Handler()
	wantProblem(t, serve(h, "DELETE", "/v1/keys/api/secret-key", ""), 503, "", "not reset: node n2 out of reach")

	node.err = nil
	if w := serve(h, "DELETE", "/v1/keys/api/secret-key", ""); w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
	for _, want := range []string{`msg="counters not reset" policy=api`, `msg="counters reset" policy=api`} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("no %s in the log:\n%s", want, &logged)
		}
	}
	if strings.Contains(logged.String(), "secret-key") {
		t.Errorf("the log holds the key:\n%s", &logged)
	}
}
