package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/internal/race"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// twoNodes runs test with a handler on node n1, and a key of which n2 owns
// the counters of every policy.
func twoNodes(t *testing.T, test func(t *testing.T, c *testcluster.Cluster, limited http.Handler, key string), policies ...policy.Policy) {
	t.Helper()
	if race.Enabled {
		t.Skip("the race detector and many timers on virtual time do not go together")
	}
	t.Parallel()
	testcluster.Run(t, 2, func(t *testing.T, c *testcluster.Cluster) {
		key := ""
		for i := 0; key == ""; i++ {
			key = strconv.Itoa(i)
			for _, p := range policies {
				if owner, err := c.Node("n1").OwnerOf(p.Name, "header:x-api-key="+key); err != nil || owner != "n2" {
					key = ""
					break
				}
			}
		}
		test(t, c, httpapi.Middleware(c.Node("n1"), byKey)(ok), key)
	}, policies...)
}

// status is that of one request.
func status(ctx context.Context, h http.Handler, key string) int {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	r.Header.Set("X-Api-Key", key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

// A client that resets its requests, or brings too little time, reaches the
// handler no more often than others, though the owner has not answered yet.
func TestLeavingIsNoWayAroundALimit(t *testing.T) {
	p := bucket("api", 10)
	p.OnUnreachable = policy.Allow
	twoNodes(t, func(t *testing.T, c *testcluster.Cluster, limited http.Handler, key string) {
		c.Delay(5*time.Millisecond, 0)
		for name, bound := range map[string]func(context.Context) (context.Context, context.CancelFunc){
			"leaving":  leaving(time.Millisecond),
			"a moment": deadline(time.Millisecond),
		} {
			for range 20 {
				ctx, cancel := bound(t.Context())
				if got := status(ctx, limited, key); got == http.StatusOK {
					t.Fatalf("%s: the handler was reached", name)
				}
				cancel()
			}
		}
	}, p)
}

// Parallel requests are admitted as often as the smallest limit says, and the
// larger ones are charged no more than that, whichever is configured first.
func TestParallelRequestsChargeTheLargerLimitOnlyOnce(t *testing.T) {
	day := bucket("day", 1000)
	twoNodes(t, func(t *testing.T, c *testcluster.Cluster, limited http.Handler, key string) {
		c.Delay(time.Millisecond, time.Millisecond)
		var admitted atomic.Int64
		var requests sync.WaitGroup
		for range 200 {
			requests.Go(func() {
				if status(t.Context(), limited, key) == http.StatusOK {
					admitted.Add(1)
				}
			})
		}
		requests.Wait()
		d, err := c.Node("n2").Peek(t.Context(), "day", "header:x-api-key="+key)
		if err != nil || admitted.Load() != 10 || d.Remaining != 990 {
			t.Errorf("admitted %d, the larger limit has %d left (%v)", admitted.Load(), d.Remaining, err)
		}
	}, day, bucket("burst", 10))
}

// Requests that cannot wait for their turn in a leaky bucket leave their
// places to others.
func TestLateTurnsAreNotCharged(t *testing.T) {
	t.Parallel()
	leaky := policy.Policy{Name: "api", Limits: []limiter.Limit{limiter.PerSecond(1).WithBurst(10).WithAlgorithm(limiter.LeakyBucket)}}
	synctest.Test(t, func(t *testing.T) {
		h := httpapi.Middleware(alone(t, leaky), byKey)(ok)
		var served, late, denied atomic.Int64
		var requests sync.WaitGroup
		for range 300 {
			time.Sleep(200 * time.Millisecond)
			requests.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				switch {
				case w.Code == http.StatusOK:
					served.Add(1)
				case w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") != "":
					late.Add(1)
				default:
					denied.Add(1)
				}
			})
		}
		requests.Wait()
		if served.Load() < 60 || denied.Load() > 0 || late.Load() < 200 {
			t.Errorf("in a minute at one a second: %d served, %d late, %d denied", served.Load(), late.Load(), denied.Load())
		}
	})
}

// A policy in shadow delays nobody, and is not what clients see beside
// another.
func TestShadowIsOnlySeen(t *testing.T) {
	t.Parallel()
	shadow := policy.Policy{Name: "queue", Shadow: true, Limits: []limiter.Limit{limiter.PerHour(1).WithBurst(3).WithAlgorithm(limiter.LeakyBucket)}}
	synctest.Test(t, func(t *testing.T) {
		h := httpapi.Middleware(alone(t, shadow), byKey)(ok)
		begin := time.Now()
		for range 10 {
			if w := send(h); w.Code != http.StatusOK || time.Since(begin) != 0 {
				t.Fatalf("%d after %v", w.Code, time.Since(begin))
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var deniedBy []string
		h := httpapi.Middleware(alone(t, shadow, bucket("real", 5)), byKey, httpapi.WithDenied(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			d, _ := httpapi.DecisionFrom(r.Context())
			deniedBy = d.DeniedBy()
		})))(ok)
		for range 4 {
			send(h)
		}
		wantFields(t, send(h), map[string]string{"RateLimit-Limit": "5", "RateLimit-Remaining": "0"})
		wantFields(t, send(h), map[string]string{"Retry-After": "720"})
		if len(deniedBy) != 1 || deniedBy[0] != "real" {
			t.Errorf("denied by %q", deniedBy)
		}
	})
}

// A policy that says what it keys by goes by that, whatever header a client
// sends; the middleware's key is for the others.
func TestPoliciesKeepTheirOwnKeys(t *testing.T) {
	t.Parallel()
	address, err := httpapi.NewClientAddress(httpapi.ClientAddressOptions{TrustedProxies: []string{httpapi.NoProxies}})
	if err != nil {
		t.Fatal(err)
	}
	perAddress := bucket("address", 2)
	perAddress.Key = []string{"ip"}
	perAddress.Cost.Attr = "units"
	synctest.Test(t, func(t *testing.T) {
		units := ""
		h := httpapi.Middleware(alone(t, perAddress, bucket("key", 5)), byKey, httpapi.WithClientAddress(address),
			httpapi.WithAttributes(func(*http.Request, string) string { return units }))(ok)
		for i, want := range []int{200, 200, 429} {
			if w := send(h, "X-Api-Key", strconv.Itoa(i)); w.Code != want {
				t.Errorf("request %d under a key of its own: %d, want %d: %s", i+1, w.Code, want, w.Body)
			}
		}
		units = "garbage"
		if w := send(h); w.Code != http.StatusBadRequest || w.Header().Get("RateLimit") != "" {
			t.Errorf("a cost that is none: %d %s", w.Code, w.Body)
		}
	})
}
