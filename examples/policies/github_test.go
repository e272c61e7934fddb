package presets

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/murmurate/murmurate/httpapi"
)

var (
	octocat = object{"method": "GET", "path": "/user", "ip": "203.0.113.9", "user": "octocat", "credential": "user"}
	query   = octocat.with("method", "POST").with("path", "/graphql")
)

// rest asks for a call to an endpoint of its own, so that the minute is not
// what denies.
func (p *player) rest(i int, caller object) answer {
	return p.check(caller.with("endpoint", fmt.Sprint("endpoint-", i%100)))
}

// By address 60 requests an hour pass, and 5,000 or 15,000 for who is
// authenticated.
func TestGitHubHour(t *testing.T) {
	anonymous := object{"method": "GET", "path": "/zen", "ip": "203.0.113.9"}
	for _, row := range []struct {
		who    string
		caller object
		hour   int
	}{
		{"by address", anonymous, 60},
		{"a user", octocat, 5000},
		{"an app", octocat.with("credential", "app"), 15_000},
	} {
		t.Run(row.who, func(t *testing.T) {
			play(t, "github.yaml", 1, func(t *testing.T, p *player) {
				time.Sleep(17 * time.Minute) // the hour begins with the first request
				for i := range row.hour {
					if a := p.rest(i, row.caller); !a.Allowed {
						t.Fatalf("request %d: %+v", i+1, a)
					}
				}
				again := func() answer { return p.rest(0, row.caller) }
				p.denied("one more", again(), "github-hour", http.StatusTooManyRequests)
				p.admitted("from another address, another user", p.check(row.caller.with("ip", "198.51.100.7").with("user", "hubot")))
				p.passesAfter(time.Hour, "the next hour", again)
			})
		})
	}
}

// 180 writes are 900 points, in any minute, whatever the clock shows.
func TestGitHubWritesOfAMinute(t *testing.T) {
	play(t, "github.yaml", 3, func(t *testing.T, p *player) {
		time.Sleep(untilNext(time.Minute) + 40*time.Second)
		write := octocat.with("method", "PATCH").with("path", "/repos/o/r/issues/1")
		for i := range 180 {
			p.admitted("a write", p.check(write))
			if i%6 == 5 {
				time.Sleep(time.Second)
			}
		}
		p.denied("the 181st within half a minute", p.check(write), "github-minute", http.StatusTooManyRequests)
		p.denied("a read has no point left either", p.check(octocat), "github-minute", http.StatusTooManyRequests)
		p.admitted("at another endpoint", p.rest(1, write))
		p.admitted("GraphQL has points of its own", p.check(query))
		p.passesAfter(30*time.Second, "a minute after the first six", func() answer { return p.check(write) })
		if got := p.admits(10, write); got != 5 {
			t.Errorf("%d more pass, want the rest of the six", got)
		}
	})
}

// A query is one point and a mutation five, of 2,000 a minute; what it costs of
// the hour is another number.
func TestGitHubGraphQL(t *testing.T) {
	play(t, "github.yaml", 3, func(t *testing.T, p *player) {
		mutation := query.with("points", 5)
		if got := p.admits(399, mutation) + p.admits(5, query); got != 404 {
			t.Errorf("%d pass, want 399 mutations and five queries", got)
		}
		p.denied("the 2001st point", p.check(query), "github-graphql-minute", http.StatusTooManyRequests)
		p.admitted("REST has points of its own", p.check(octocat))
		time.Sleep(time.Minute)
		costly := query.with("query_points", 5000-404)
		p.admitted("the rest of the hour", p.check(costly))
		p.denied("one more", p.check(query), "github-graphql-hour", http.StatusTooManyRequests)
	})
}

// A GET, a HEAD and an OPTIONS are a point each.
func TestGitHubReadsOfAMinute(t *testing.T) {
	play(t, "github.yaml", 3, func(t *testing.T, p *player) {
		for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
			if got := p.admits(300, octocat.with("method", method)); got != 300 {
				t.Errorf("%d of 300 pass by %s", got, method)
			}
		}
		p.denied("the 901st", p.check(octocat), "github-minute", http.StatusTooManyRequests)
	})
}

// A hundred requests are served at once, REST and GraphQL together; the next
// one when one of them ends.
func TestGitHubAtOnce(t *testing.T) {
	play(t, "github.yaml", 3, func(_ *testing.T, p *player) {
		var leases []string
		for i := range 100 {
			caller := octocat
			if i%2 == 1 {
				caller = query
			}
			a := p.acquire(caller)
			p.admitted("one of a hundred", a)
			leases = append(leases, a.Lease)
		}
		for i, caller := range []object{octocat, query} {
			p.denied("the 101st", p.acquire(caller), "github-at-once", http.StatusTooManyRequests)
			p.admitted("another user", p.acquire(caller.with("user", "hubot")))
			p.release(leases[1-i]) // of the other kind
			p.admitted("when one has ended", p.acquire(caller))
			p.denied("and no more", p.acquire(caller), "github-at-once", http.StatusTooManyRequests)
		}
	})
}

// CPU time is charged when it is known: 90 s of a minute, and who has used more
// waits until the last 60 s hold less.
func TestGitHubCPU(t *testing.T) {
	for name, most := range map[string]int64{"github-cpu": 90_000, "github-graphql-cpu": 60_000} {
		t.Run(name, func(t *testing.T) {
			play(t, "github.yaml", 3, func(t *testing.T, p *player) {
				time.Sleep(untilNext(time.Minute))
				first, second := p.look(name, octocat), p.look(name, octocat)
				p.settle(first.Receipt, most-1)
				p.admitted("a millisecond is left", p.look(name, octocat))
				p.settle(second.Receipt, most/2+1)
				a := p.look(name, octocat)
				p.denied("half as much again", a, name, http.StatusTooManyRequests)
				p.admitted("another user", p.look(name, octocat.with("user", "hubot")))
				wait := time.Duration(a.RetryAfterMS) * time.Millisecond
				if wait < 80*time.Second || wait > 81*time.Second {
					t.Errorf("is told to wait %v, want until a third of the minute before has passed", wait)
				}
				time.Sleep(wait - 2*time.Millisecond)
				p.denied("too early", p.look(name, octocat), name, http.StatusTooManyRequests)
				time.Sleep(2 * time.Millisecond)
				p.admitted("as told", p.look(name, octocat))
			})
		})
	}
}

// In Go, two middlewares do it all.
func TestGitHubMiddleware(t *testing.T) {
	play(t, "github.yaml", 1, func(t *testing.T, p *player) {
		node := p.nodes[0]
		attributes := httpapi.WithAttributes(func(r *http.Request, name string) string {
			return map[string]string{"user": r.Header.Get("X-User"), "credential": "user"}[name]
		})
		cpu := httpapi.Middleware(node, httpapi.ByHeader("X-User"), attributes, httpapi.WithPolicy("github-cpu"), httpapi.WithoutEstimate(),
			httpapi.WithCostAfter(func(_ int, _ http.Header, _ int64, elapsed time.Duration) int64 { return elapsed.Milliseconds() }))
		rules := httpapi.Middleware(node, httpapi.ByHeader("X-User"), attributes)
		app := cpu(rules(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Minute) })))
		serve := func() int {
			r, w := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/user", nil), httptest.NewRecorder()
			r.Header.Set("X-User", "octocat")
			app.ServeHTTP(w, r)
			return w.Code
		}
		var served sync.WaitGroup
		var codes [110]int
		for i := range codes {
			served.Go(func() { codes[i] = serve() })
		}
		served.Wait()
		slices.Sort(codes[:])
		if codes[99] != http.StatusOK || codes[100] != http.StatusTooManyRequests {
			t.Errorf("of 110 at once: %v", codes)
		}
		// A hundred minutes of CPU time in one.
		if code := serve(); code != http.StatusTooManyRequests {
			t.Errorf("the next one is answered with %d", code)
		}
		a := p.look("github-cpu", octocat)
		p.denied("the next one", a, "github-cpu", http.StatusTooManyRequests)
		p.admitted("which has nothing to do with slots", p.acquire(octocat))
	})
}
