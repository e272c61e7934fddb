package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// keyOfSend is the key of requests that send sends without a key.
const keyOfSend = "header:x-api-key"

// hasLeft is what the key of send's requests has left.
func hasLeft(t *testing.T, node *murmurate.Node, policyName string) int64 {
	t.Helper()
	d, err := node.Peek(t.Context(), policyName, keyOfSend)
	if err != nil {
		t.Fatal(err)
	}
	return d.Remaining
}

func failures(status int, _ http.Header, _ int64, _ time.Duration) int64 {
	if status >= 400 {
		return 1
	}
	return 0
}

// scenario 47: a policy for failed logins counts no successful ones, and of
// many attempts at one time no more can fail than the limit has units.
func TestOnlyFailuresAreCounted(t *testing.T) {
	t.Parallel()
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(100 * time.Millisecond)
		if r.Header.Get("Password") != "right" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		node := alone(t, bucket("login", 5))
		h := httpapi.Middleware(node, byKey, httpapi.WithCostAfter(failures))(login)
		for range 50 {
			if w := send(h, "Password", "right"); w.Code != http.StatusOK {
				t.Fatalf("a successful login: %d", w.Code)
			}
		}
		if got := hasLeft(t, node, "login"); got != 5 {
			t.Errorf("%d left after successes, want 5", got)
		}
		var attempts sync.WaitGroup
		var mu sync.Mutex
		got := map[int]int{}
		for range 50 {
			attempts.Go(func() {
				w := send(h, "Password", "guess")
				mu.Lock()
				got[w.Code]++
				mu.Unlock()
			})
		}
		attempts.Wait()
		if got[http.StatusUnauthorized] != 5 || got[http.StatusTooManyRequests] != 45 {
			t.Errorf("%v, want 5 attempts and 45 denials", got)
		}
		if w := send(h, "Password", "right"); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "720" {
			t.Errorf("after the failures: %d, %v", w.Code, w.Header())
		}
	})
}

// Each one line: bytes, milliseconds, a field of the answer.
func TestCostsThatAreKnownAfterwards(t *testing.T) {
	t.Parallel()
	app := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Tokens", "812")
		time.Sleep(40 * time.Millisecond)
		_, _ = io.WriteString(w, "hello ")
		_, _ = io.Copy(w, strings.NewReader(strings.Repeat("x", 1000)))
	})
	for _, row := range []struct {
		why  string
		cost httpapi.CostAfter
		want int64
	}{
		{"bytes", func(_ int, _ http.Header, n int64, _ time.Duration) int64 { return n }, 1006},
		{"milliseconds", func(_ int, _ http.Header, _ int64, d time.Duration) int64 { return d.Milliseconds() }, 40},
		{"tokens", func(_ int, h http.Header, _ int64, _ time.Duration) (n int64) {
			_, _ = fmt.Sscan(h.Get("X-Tokens"), &n)
			return n
		}, 812},
		{"the status", func(status int, _ http.Header, _ int64, _ time.Duration) int64 { return int64(status) }, 200},
		{"nothing", func(int, http.Header, int64, time.Duration) int64 { return 0 }, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			node := alone(t, bucket("api", 10_000))
			w := send(httpapi.Middleware(node, byKey, httpapi.WithCostAfter(row.cost))(app))
			if got := 10_000 - hasLeft(t, node, "api"); got != row.want || w.Body.Len() != 1006 {
				t.Errorf("%s: %d charged, want %d; %d bytes", row.why, got, row.want, w.Body.Len())
			}
		})
	}
}

// scenario 34: a request that is charged afterwards is denied where nothing
// is left, and the debt of those before it is waited for.
func TestWithoutEstimate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node := alone(t, policy.Policy{Name: "api", Limits: []limiter.Limit{limiter.PerMinute(60).WithBurst(10)}})
		cost := func(int, http.Header, int64, time.Duration) int64 { return 10 }
		var served sync.WaitGroup
		release := make(chan struct{})
		h := httpapi.Middleware(node, byKey, httpapi.WithCostAfter(cost), httpapi.WithoutEstimate())(
			http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
		for range 3 {
			served.Go(func() {
				if w := send(h); w.Code != http.StatusOK || w.Header().Get("RateLimit-Remaining") != "10" {
					t.Errorf("%d, %v", w.Code, w.Header())
				}
			})
		}
		synctest.Wait()
		close(release)
		served.Wait()
		wantFields(t, send(h), map[string]string{"Retry-After": "21", "RateLimit-Remaining": "0"}) // 30 are owed, and 9 may be
		time.Sleep(21 * time.Second)
		if w := send(h); w.Code != http.StatusOK {
			t.Errorf("after the debt: %d", w.Code)
		}
	})
}

// scenario 37: the first look is at the cost, too.
func TestALookIsAtTheCost(t *testing.T) {
	t.Parallel()
	node := alone(t, bucket("api", 10))
	cost := func(*http.Request) int64 { return 11 }
	h := httpapi.Middleware(node, byKey, httpapi.WithCost(cost), httpapi.WithCostAfter(failures), httpapi.WithoutEstimate())(ok)
	if w := send(h); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "" {
		t.Errorf("%d, %v", w.Code, w.Header())
	}
}

// A handler that panics is charged as a failure, or as what it had sent.
func TestPanicsAreSettled(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		sends int // 0: nothing
		want  int64
	}{{0, 9}, {200, 10}, {404, 9}} {
		synctest.Test(t, func(t *testing.T) {
			node := alone(t, bucket("api", 10))
			h := httpapi.Middleware(node, byKey, httpapi.WithCostAfter(failures))(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if row.sends > 0 {
					w.WriteHeader(row.sends)
				}
				panic(http.ErrAbortHandler)
			}))
			func() {
				defer func() {
					if recover() != http.ErrAbortHandler { //nolint:errorlint // it is what was panicked with
						t.Error("the panic did not pass on")
					}
				}()
				send(h)
			}()
			if got := hasLeft(t, node, "api"); got != row.want {
				t.Errorf("after status %d and a panic %d are left, want %d", row.sends, got, row.want)
			}
		})
	}
}

// A negative cost leaves the estimate, and is logged once.
func TestNegativeCosts(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	node := alone(t, bucket("api", 10))
	h := httpapi.Middleware(node, byKey, httpapi.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		httpapi.WithCostAfter(func(int, http.Header, int64, time.Duration) int64 { return -1 }))(ok)
	for range 3 {
		if w := send(h); w.Code != http.StatusOK {
			t.Errorf("%d", w.Code)
		}
	}
	if hasLeft(t, node, "api") != 7 || strings.Count(log.String(), "negative cost") != 1 {
		t.Errorf("%d left, logged %q", hasLeft(t, node, "api"), log.String())
	}
}

// What is not served because its turn comes too late costs nothing.
func TestLateTurnsAreGivenBack(t *testing.T) {
	t.Parallel()
	queue := policy.Policy{Name: "api", Limits: []limiter.Limit{limiter.PerHour(1).WithBurst(5).WithAlgorithm(limiter.LeakyBucket)}}
	synctest.Test(t, func(t *testing.T) {
		node := alone(t, queue)
		h := httpapi.Middleware(node, byKey, httpapi.WithCostAfter(failures))(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
		send(h)
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable || hasLeft(t, node, "api") != 5 {
			t.Errorf("%d, %d left, want 5", w.Code, hasLeft(t, node, "api"))
		}
	})
}

// A request that has been served does not wait until another node has settled
// it.
func TestServingDoesNotWaitForSettling(t *testing.T) {
	twoNodes(t, func(t *testing.T, c *testcluster.Cluster, _ http.Handler, key string) {
		h := httpapi.Middleware(c.Node("n1"), byKey, httpapi.WithCostAfter(failures))(ok)
		c.Delay(5*time.Millisecond, 0)
		began := time.Now()
		if got := status(t.Context(), h, key); got != http.StatusOK || time.Since(began) != 10*time.Millisecond {
			t.Errorf("%d after %v, want the check's way there and back", got, time.Since(began))
		}
		time.Sleep(6 * time.Millisecond)
		if d, err := c.Node("n2").Peek(t.Context(), "api", "header:x-api-key="+key); err != nil || d.Remaining != 10 {
			t.Errorf("%v, %d left, want 10", err, d.Remaining)
		}
	}, bucket("api", 10))
}

// metered serves app over HTTP/1 or HTTP/2 and charges what cost says, of
// which it tells.
func metered(t *testing.T, h2 bool, app http.HandlerFunc) (s *httptest.Server, costs <-chan string) {
	t.Helper()
	told := make(chan string, 1)
	after := func(status int, _ http.Header, n int64, _ time.Duration) int64 {
		told <- fmt.Sprint(status, " ", n)
		return 0
	}
	s = httptest.NewUnstartedServer(httpapi.Middleware(alone(t, bucket("api", 100)), byKey, httpapi.WithCostAfter(after))(app))
	s.EnableHTTP2, s.Config.ErrorLog = h2, slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo) // of second statuses
	if h2 {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s, told
}

// The writer that a handler gets does what the server's does, and counts.
func TestMeteredWriters(t *testing.T) {
	t.Parallel()
	apps := []struct {
		why  string
		app  http.HandlerFunc
		want string // status and bytes
		body string
	}{
		{"nothing", func(http.ResponseWriter, *http.Request) {}, "200 0", ""},
		{"a status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "404 0", ""},
		{"the first status", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "no")
		}, "403 2", "no"},
		{"flushed", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.WriteHeader(http.StatusInternalServerError) // too late
		}, "200 0", ""},
		{"by a controller", func(w http.ResponseWriter, _ *http.Request) {
			control := http.NewResponseController(w)
			if err := control.SetWriteDeadline(time.Time{}); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, "one ")
			if err := control.Flush(); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, "two")
		}, "200 7", "one two"},
		{"read from", func(w http.ResponseWriter, _ *http.Request) {
			if n, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader("stream")); n != 6 || err != nil {
				t.Error(n, err)
			}
		}, "200 6", "stream"},
	}
	for _, h2 := range []bool{false, true} {
		for _, row := range apps {
			t.Run(fmt.Sprintf("%s, HTTP/2 %v", row.why, h2), func(t *testing.T) {
				t.Parallel()
				s, costs := metered(t, h2, func(w http.ResponseWriter, r *http.Request) {
					if _, can := w.(http.Hijacker); can == h2 {
						t.Error("only a connection of HTTP/1 can be hijacked")
					}
					row.app(w, r)
				})
				answer := get(t, s)
				body, err := io.ReadAll(answer.Body)
				if got := <-costs; err != nil || got != row.want || string(body) != row.body {
					t.Errorf("charged for %q, want %q; body %q, %v", got, row.want, body, err)
				}
			})
		}
	}
}

func TestMeteredHijack(t *testing.T) {
	t.Parallel()
	s, costs := metered(t, false, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		_ = conn.Close()
	})
	if answer := get(t, s); answer.StatusCode != http.StatusNoContent {
		t.Errorf("%d", answer.StatusCode)
	}
	if got := <-costs; got != "101 0" {
		t.Errorf("charged for %q", got)
	}
}

// post sends a body to the API and decodes the answer.
func post(t *testing.T, h http.Handler, path, body string) (status int, header http.Header, answer map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return w.Code, w.Header(), answer
}

// Estimate 100, actual 812 at 30,000 a minute, and settled twice: the next
// call is told exactly how long the debt needs.
func TestDebtOverHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := httpapi.New(httpapi.Options{Node: alone(t, policy.Policy{
			Name: "tokens", Limits: []limiter.Limit{limiter.PerMinute(30_000).WithBurst(100)},
		})}).Handler()
		const check = `{"policy":"tokens","key":"me","cost":100,"receipt":true}`
		status, _, d := post(t, h, "/v1/check", check)
		receipt, _ := d["receipt"].(string)
		if status != 200 || receipt == "" {
			t.Fatalf("%d, %v", status, d)
		}
		for _, cost := range []int{812, 300} { // the first counts, and the answer does not say that the second does
			status, _, d := post(t, h, "/v1/settle", fmt.Sprintf(`{"receipt":%q,"cost":%d}`, receipt, cost))
			if status != 200 || d["allowed"] != true || d["cost"] != nil || d["remaining"] != 0.0 || d["reset_after_ms"] != 1624.0 || d["receipt"] != nil {
				t.Errorf("settle: %d, %v", status, d)
			}
		}
		status, header, d := post(t, h, "/v1/check", check)
		if status != 429 || header.Get("Retry-After") != "2" || d["retry_after_ms"] != 1624.0 || d["receipt"] != nil {
			t.Errorf("the next call: %d, %v, %v", status, header, d)
		}
		time.Sleep(1624*time.Millisecond - 1)
		if status, _, d := post(t, h, "/v1/check", check); status != 429 {
			t.Errorf("too early: %d, %v", status, d)
		}
		time.Sleep(time.Nanosecond)
		if status, _, d := post(t, h, "/v1/check", check); status != 200 {
			t.Errorf("after the wait: %d, %v", status, d)
		}
		time.Sleep(limiter.ReceiptLife)
		if status, _, d := post(t, h, "/v1/settle", fmt.Sprintf(`{"receipt":%q,"cost":1}`, receipt)); status != 410 || d["field"] != "receipt" {
			t.Errorf("after an hour: %d, %v", status, d)
		}
	})
}

// Each check of a batch has its own receipt, and cost 0 charges all of it
// afterwards.
func TestReceiptsOfABatch(t *testing.T) {
	t.Parallel()
	h := httpapi.New(httpapi.Options{Node: alone(t, bucket("api", 10))}).Handler()
	_, _, answer := post(t, h, "/v1/check/batch", `{"checks":[
		{"policy":"api","key":"a","cost":6,"receipt":true},{"policy":"api","key":"b","cost":0,"receipt":true},
		{"policy":"api","key":"c","cost":11,"receipt":true},{"policy":"api","key":"d"}]}`)
	for i, want := range []bool{true, true, false, false} {
		d := answer["results"].([]any)[i].(map[string]any)
		receipt, given := d["receipt"].(string)
		if given != want {
			t.Errorf("check %d: %v", i, d)
		}
		if !want {
			continue
		}
		if status, _, d := post(t, h, "/v1/settle", fmt.Sprintf(`{"receipt":%q,"cost":3}`, receipt)); status != 200 || d["remaining"] != 7.0 {
			t.Errorf("check %d: %d, %v", i, status, d)
		}
	}
}
