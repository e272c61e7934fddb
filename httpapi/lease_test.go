package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// uploads is a policy of ten slots.
func uploads() policy.Policy {
	return policy.Policy{Name: "uploads", Limits: []limiter.Limit{{Algorithm: limiter.Concurrency, Count: 10, Period: limiter.DefaultTTL}}}
}

func TestLeaseCalls(t *testing.T) {
	t.Parallel()
	lost, away := policy.ErrLapsed, errors.New("owner n2 is out of reach")
	denied := []limiter.Result{{Limit: 10, RetryAfter: 7 * time.Second, NextUnit: 7 * time.Second}}
	for _, row := range []struct {
		path, body string
		results    []limiter.Result
		err        error // of the lease
		status     int
		says       string // of the body: a part
	}{
		{"acquire", `{"policy":"uploads","key":"k"}`, nil, nil, 200, `}],"lease":"a-token","expires_in_ms":30000}`},
		{"acquire", `{"policy":"uploads","key":"k","ttl_ms":2500,"cost":3}`, nil, nil, 200, `"lease":"a-token","expires_in_ms":2500}`},
		{"acquire", `{"attributes":{"path":"/"},"key":"k"}`, nil, nil, 200, `"unit":"concurrent-requests"`},
		{"acquire", `{"key":"k","limit":{"algorithm":"concurrency","count":5,"ttl":"1m"}}`, nil, nil, 200, `"lease":"a-token"`},
		{"acquire", `{"policy":"uploads","key":"k"}`, denied, nil, 429, `"denied_by":["uploads"],"limits":[{"name":"uploads","limit":10,"remaining":0,"allowed":false,"retry_after_ms":7000`},
		{"acquire", `{"policy":"uploads","key":"k","ttl_ms":0}`, nil, nil, 400, `"ttl_ms: must be at least 1, got 0"`},
		{"acquire", `{"policy":"uploads","key":"k","ttl_ms":"1s"}`, nil, nil, 400, `"ttl_ms: must be a whole number, got a string"`},
		{"acquire", `{"policy":"uploads","key":"k","ttl":1}`, nil, nil, 400, `ttl: is not a field here; there are`},
		{"acquire", `{"policy":"uploads","key":"k","cost":0}`, nil, nil, 400, `cost: must be at least 1`},
		{"acquire", `{"policy":"uploads","key":"k","cost":0,"receipt":true}`, nil, nil, 200, `"cost":0,`},
		{"acquire", `{"policy":"uploads","key":"k","peek":true}`, nil, nil, 400, `peek: is not a field here`},
		{"acquire", `{"policy":"upload","key":"k"}`, nil, nil, 404, `did you mean`},
		{"acquire", `{"policy":"uploads"}`, nil, nil, 400, `key: must not be empty`},
		{"acquire", ``, nil, nil, 400, `is empty`},
		{"renew", `{"lease":"a-token"}`, nil, nil, 200, `}],"lease":"a-token","expires_in_ms":30000}`},
		{"renew", `{"lease":"a-token","ttl_ms":1000}`, nil, nil, 200, `"expires_in_ms":1000}`},
		{"renew", `{"lease":"a-token"}`, nil, lost, 410, `has lapsed or was released: acquire a new one`},
		{"renew", `{"lease":"a-token"}`, nil, away, 503, `not renewed; the lease holds until it expires`},
		{"renew", `{"lease":"forged"}`, nil, nil, 400, `"field":"lease"`},
		{"renew", `{}`, nil, nil, 400, `lease: is required`},
		{"renew", `{"lease":"a-token","policy":"uploads"}`, nil, nil, 400, `policy: is not a field here`},
		{"release", `{"lease":"a-token"}`, nil, nil, 200, `{"released":true}`},
		{"release", `{"lease":"a-token"}`, nil, away, 200, `{"released":false}`},
		{"release", `{"lease":"forged"}`, nil, nil, 400, `"field":"lease"`},
		{"release", `{"lease":"a-token","ttl_ms":5}`, nil, nil, 400, `ttl_ms: is not a field here`},
		{"release", strings.Repeat(" ", maxBody+1), nil, nil, 413, `at most`},
	} {
		node := newFake(t, uploads())
		node.results, node.leaseErr = row.results, row.err
		w := serve(New(Options{Node: node, Fields: bothDialects}).Handler(), "POST", "/v1/"+row.path, row.body)
		if w.Code != row.status || !strings.Contains(w.Body.String(), row.says) {
			t.Errorf("%s %.80s: %d %s\nwant %d with %s", row.path, row.body, w.Code, w.Body, row.status, row.says)
		}
		if (row.status >= 400) != strings.HasPrefix(w.Header().Get("Content-Type"), "application/problem") && row.results == nil {
			t.Errorf("%s %.80s: Content-Type %q", row.path, row.body, w.Header().Get("Content-Type"))
		}
		if wait := w.Header().Get("Retry-After"); (wait != "") != (row.status == 429 || row.status == 503) {
			t.Errorf("%s %.80s: Retry-After %q", row.path, row.body, wait)
		}
	}
	w := serve(New(Options{Node: newFake(t, uploads())}).Handler(), "GET", "/v1/acquire", "")
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" {
		t.Errorf("GET: %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

// The fields of a concurrency limit have its unit and no window.
func TestFieldsOfSlots(t *testing.T) {
	t.Parallel()
	w := serve(New(Options{Node: newFake(t, uploads()), Fields: bothDialects}).Handler(), "POST", "/v1/acquire", `{"policy":"uploads","key":"k"}`)
	if got := w.Header().Get("RateLimit-Policy"); got != `"uploads";q=10;qu="concurrent-requests"` {
		t.Errorf("RateLimit-Policy: %s", got)
	}
	if got := w.Header().Get("RateLimit"); got != `"uploads";r=9;t=1` {
		t.Errorf("RateLimit: %s", got)
	}
	if !strings.Contains(w.Body.String(), `"window_ms":0`) {
		t.Errorf("body %s", w.Body)
	}
}

// A client that has left while its lease was made will not release it.
func TestAcquiredForNobody(t *testing.T) {
	t.Parallel()
	node := newFake(t, uploads())
	serveGone(New(Options{Node: node}).Handler(), "/v1/acquire", `{"policy":"uploads","key":"k"}`)
	if len(node.asked) != 1 || node.released != 1 {
		t.Errorf("asked %d times, released %d times", len(node.asked), node.released)
	}
}

// FuzzDecodeLease: whatever a body holds, it is read or refused, and what is
// read can be used.
func FuzzDecodeLease(f *testing.F) {
	for _, seed := range []string{`{"lease":"x"}`, `{"lease":"x","ttl_ms":9223372036854775807}`, `{"policy":"a","key":"k","ttl_ms":1}`, `{"ttl_ms":-1}`, `{"cost":0}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if l, err := decodeRenewal(body); err == nil && (l.token == "" || l.ttl < 0) {
			t.Errorf("%q: %+v", body, l)
		}
		if c, err := decodeAcquire(body); err == nil && (c.TTL < 0 || c.Peek != c.free) {
			t.Errorf("%q: %+v", body, c)
		}
	})
}
