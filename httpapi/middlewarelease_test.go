package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// atOnce is a policy of so many slots, for 3 s without a renewal.
func atOnce(name string, count int64) policy.Policy {
	return policy.Policy{Name: name, Limits: []limiter.Limit{{Algorithm: limiter.Concurrency, Count: count, Period: 3 * time.Second}}}
}

// slow is a handler that takes a time, and counts how many are at it.
type slow struct {
	takes         time.Duration
	running, most atomic.Int64
}

func (s *slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := s.running.Add(1)
	defer s.running.Add(-1)
	for m := s.most.Load(); now > m && !s.most.CompareAndSwap(m, now); m = s.most.Load() {
	}
	time.Sleep(s.takes)
	ok.ServeHTTP(w, r)
}

// several sends requests at one time and returns how often each status came.
func several(n int, send func(i int) int) map[int]int {
	var mu sync.Mutex
	statuses := make(map[int]int)
	var sending sync.WaitGroup
	for i := range n {
		sending.Go(func() {
			status := send(i)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	sending.Wait()
	return statuses
}

func TestMiddlewareLimitsConcurrency(t *testing.T) {
	t.Parallel()
	hourly := policy.Policy{Name: "rate", Limits: []limiter.Limit{
		{Algorithm: limiter.FixedWindow, Count: 100, Period: time.Hour, Align: limiter.AlignFirst}}}
	for _, test := range []struct {
		name string
		opts []httpapi.Option
		want map[int]int
	}{
		{"by itself", nil, map[int]int{200: 2, 429: 8}},
		{"without waiting", []httpapi.Option{httpapi.WithConcurrency(0)}, map[int]int{200: 2, 429: 8}},
		{"waiting for some", []httpapi.Option{httpapi.WithConcurrency(25 * time.Second)}, map[int]int{200: 6, 429: 4}},
		{"waiting for all", []httpapi.Option{httpapi.WithConcurrency(time.Minute)}, map[int]int{200: 10}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				node, app := alone(t, atOnce("api", 2), hourly), &slow{takes: 10 * time.Second} // of three TTLs
				h := httpapi.Middleware(node, byKey, test.opts...)(app)
				got := several(10, func(int) int { return status(t.Context(), h, "k") })
				if fmt.Sprint(got) != fmt.Sprint(test.want) || app.most.Load() != 2 {
					t.Errorf("statuses %v, %d at once, want %v", got, app.most.Load(), test.want)
				}
				d, err := node.Peek(t.Context(), "rate", "header:x-api-key=k")
				if err != nil || d.Remaining != 100-int64(test.want[200]) {
					t.Errorf("of the rate %d are left, %v", d.Remaining, err)
				}
				if node.Keys() != 1 { // that of the rate
					t.Errorf("%d slots are occupied in the end", node.Keys()-1)
				}
			})
		})
	}
}

// A request that is told when to come again tells of the slots.
func TestDenialForWantOfASlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := httpapi.Middleware(alone(t, atOnce("api", 1)), byKey)(&slow{takes: time.Second})
		go status(t.Context(), h, "k")
		synctest.Wait()
		w := send(h, "X-Api-Key", "k")
		if w.Code != 429 || w.Header().Get("Retry-After") != "3" || w.Header().Get("RateLimit-Policy") != `"api";q=1;qu="concurrent-requests"` {
			t.Errorf("status %d, %v", w.Code, w.Header())
		}
		time.Sleep(2 * time.Second)
		if w := send(h, "X-Api-Key", "k"); w.Code != 200 {
			t.Errorf("status %d when the slot is free", w.Code)
		}
	})
}

// However a handler ends, its slot is free.
func TestEveryEndFreesTheSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node := alone(t, atOnce("api", 1))
		ctx, cancel := context.WithCancel(t.Context())
		for name, end := range map[string]http.HandlerFunc{
			"return":  func(http.ResponseWriter, *http.Request) {},
			"panic":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			"leaving": func(http.ResponseWriter, *http.Request) { cancel() },
		} {
			func() {
				defer func() { _ = recover() }()
				status(ctx, httpapi.Middleware(node, byKey)(end), "k")
			}()
			if node.Keys() != 0 {
				t.Errorf("%s: the slot is occupied", name)
			}
			ctx, cancel = context.WithCancel(t.Context())
		}
		cancel()
		gone, leave := context.WithCancel(t.Context())
		leave()
		if status(gone, httpapi.Middleware(node, byKey, httpapi.WithConcurrency(time.Minute))(ok), "k"); node.Keys() != 0 {
			t.Errorf("a client that had left: %d slots are occupied", node.Keys())
		}
	})
}

// A middleware whose node cannot give slots lets nobody pass, and says why.
func TestMiddlewareWithoutAcquirer(t *testing.T) {
	t.Parallel()
	node := alone(t, atOnce("api", 1), policy.Policy{Name: "rate", Match: policy.Match{Path: "/free"}, Limits: []limiter.Limit{limiter.PerMinute(9)}})
	for _, test := range []struct {
		name   string
		node   httpapi.Checker
		opts   []httpapi.Option
		status int
	}{
		{"none", struct{ httpapi.Checker }{node}, nil, 500},
		{"none, for another policy", struct{ httpapi.Checker }{node}, []httpapi.Option{httpapi.WithPolicy("rate")}, 200},
		{"negative", node, []httpapi.Option{httpapi.WithConcurrency(-1)}, 500},
		{"a node", node, nil, 200},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Api-Key", "k")
		httpapi.Middleware(test.node, byKey, test.opts...)(ok).ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("%s: status %d, %s", test.name, w.Code, w.Body)
		}
	}
}
