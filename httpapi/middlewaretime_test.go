package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// seconds is a field that holds a number of them.
func seconds(t *testing.T, w *httptest.ResponseRecorder, name string) time.Duration {
	t.Helper()
	n, err := strconv.Atoi(w.Header().Get(name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return time.Duration(n) * time.Second
}

// scenario 4: a client that sleeps exactly Retry-After passes, whatever the
// algorithm, and at the time that it is told for the first time.
func TestClientThatSleepsRetryAfterPasses(t *testing.T) {
	t.Parallel()
	for _, l := range []limiter.Limit{
		{Algorithm: limiter.TokenBucket, Count: 7, Period: 10 * time.Second},
		{Algorithm: limiter.TokenBucket, Count: 3, Period: time.Second, Burst: 5},
		{Algorithm: limiter.LeakyBucket, Count: 1, Period: 3 * time.Second},
		{Algorithm: limiter.FixedWindow, Count: 4, Period: time.Minute},
		{Algorithm: limiter.FixedWindow, Count: 4, Period: time.Minute, Align: limiter.AlignFirst},
		{Algorithm: limiter.SlidingWindow, Count: 7, Period: time.Minute},
		{Algorithm: limiter.SlidingLog, Count: 3, Period: 7 * time.Second},
	} {
		t.Run(fmt.Sprintf("%v %d/%v", l.Algorithm, l.Count, l.Period), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				node := alone(t, policy.Policy{Name: "api", Limits: []limiter.Limit{l}})
				h := httpapi.Middleware(node, byKey)(ok)
				for range 50 {
					time.Sleep(137 * time.Millisecond)
					w := send(h)
					if w.Code == http.StatusOK {
						continue
					}
					wait := seconds(t, w, "Retry-After")
					if wait < time.Second {
						t.Fatalf("Retry-After is %v on a denial", wait)
					}
					time.Sleep(wait)
					if w := send(h); w.Code != http.StatusOK {
						t.Fatalf("denied again after %v, with %v", wait, w.Header())
					}
				}
			})
		})
	}
}

// scenario 39: a denial tells of the window that it falls into, and a value
// of 0 is sent as one.
func TestDenialHasFreshFields(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := policy.Policy{Name: "api", Limits: []limiter.Limit{{Algorithm: limiter.FixedWindow, Count: 1, Period: time.Minute}}}
		h := httpapi.Middleware(alone(t, p), byKey)(ok)
		steps := []struct {
			after  time.Duration
			status int
			reset  string
		}{
			{0, 200, "60"},
			{25 * time.Second, 429, "35"},
			{34 * time.Second, 429, "1"},
			{11 * time.Second, 200, "50"}, // 10 s into the next window
			{500 * time.Millisecond, 429, "50"},
			{9*time.Second + 500*time.Millisecond, 429, "40"},
		}
		for i, step := range steps {
			time.Sleep(step.after)
			w := send(h)
			if w.Code != step.status {
				t.Fatalf("step %d: got %d", i+1, w.Code)
			}
			retry := ""
			if w.Code == http.StatusTooManyRequests {
				retry = step.reset
			}
			wantFields(t, w, map[string]string{
				"RateLimit": `"api";r=0;t=` + step.reset, "RateLimit-Remaining": "0", "RateLimit-Reset": step.reset, "Retry-After": retry,
			})
		}
	})
}

// The fields are those of the decision, however long the handler takes.
func TestFieldsOfTheDecisionTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Hour)
			w.WriteHeader(http.StatusAccepted)
		})
		w := send(httpapi.Middleware(alone(t, bucket("api", 2)), byKey)(slow))
		if w.Code != http.StatusAccepted {
			t.Errorf("got %d", w.Code)
		}
		wantFields(t, w, map[string]string{"RateLimit": `"api";r=1;t=1800`})
	})
}

// A leaky bucket gives each request its turn, and none that it cannot have.
func TestTurns(t *testing.T) {
	t.Parallel()
	leaky := policy.Policy{Name: "api", Limits: []limiter.Limit{{Algorithm: limiter.LeakyBucket, Count: 1, Period: 2 * time.Second, Burst: 3}}}
	tests := []struct {
		why    string
		ahead  int // requests that came before
		bound  func(context.Context) (context.Context, context.CancelFunc)
		status int
		after  time.Duration
	}{
		{"the first goes at once", 0, context.WithCancel, 200, 0},
		{"the next waits", 1, context.WithCancel, 200, 2 * time.Second},
		{"the last waits longest", 3, context.WithCancel, 200, 6 * time.Second},
		{"one more is denied", 4, context.WithCancel, 429, 0},
		{"a deadline after its turn", 1, deadline(3 * time.Second), 200, 2 * time.Second},
		{"a deadline before it", 1, deadline(time.Second), 503, 0},
		{"a client that leaves", 2, leaving(time.Second), 503, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				reached := 0
				h := httpapi.Middleware(alone(t, leaky), byKey)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
				gone, leave := context.WithCancel(t.Context())
				leave()
				for range tt.ahead {
					h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, "/", nil))
				}
				before := reached
				ctx, cancel := tt.bound(t.Context())
				defer cancel()
				begin, w := time.Now(), httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
				if got := time.Since(begin); w.Code != tt.status || got != tt.after {
					t.Errorf("got %d after %v, want %d after %v: %s", w.Code, got, tt.status, tt.after, w.Body)
				}
				if called := reached - before; called != map[bool]int{true: 1}[tt.status == 200] {
					t.Errorf("the handler was called %d times", called)
				}
				if len(w.Header().Values("RateLimit")) != 1 {
					t.Errorf("RateLimit is %q", w.Header().Values("RateLimit"))
				}
			})
		})
	}
}

func deadline(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

func leaving(after time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(after, cancel)
		return ctx, cancel
	}
}
