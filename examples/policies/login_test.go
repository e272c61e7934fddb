package presets

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate/httpapi"
)

var ana = object{"method": "POST", "path": "/login", "ip": "203.0.113.9", "user": "ana"}

// fails and succeeds are logins that are tried.
func (p *player) fails(login object) answer    { return p.login(login, 1) }
func (p *player) succeeds(login object) answer { return p.login(login, 0) }

func (p *player) login(login object, cost int64) answer {
	p.t.Helper()
	a := p.estimate(login)
	if a.Allowed {
		p.settle(a.Receipt, cost)
	}
	return a
}

// Five failures, then a pause that ends whether or not somebody goes on
// trying. Successes cost nothing, and elsewhere the user is free.
func TestLoginGuessing(t *testing.T) {
	play(t, "login-protection.yaml", 3, func(t *testing.T, p *player) {
		for range 100 {
			p.admitted("a success", p.succeeds(ana))
		}
		for range 5 {
			p.admitted("a failure", p.fails(ana))
			p.admitted("a success between", p.succeeds(ana.with("user", "bob")))
		}
		a := p.fails(ana)
		p.denied("the sixth", a, "login-guessing", http.StatusTooManyRequests)
		if a.retryAfter != "900" {
			t.Errorf("Retry-After is %q", a.retryAfter)
		}
		p.admitted("from another address", p.succeeds(ana.with("ip", "198.51.100.7")))
		p.admitted("another user at the address", p.succeeds(ana.with("user", "bob")))
		for range 14 {
			time.Sleep(time.Minute)
			p.denied("in the pause", p.fails(ana), "login-guessing", http.StatusTooManyRequests)
		}
		p.passesAfter(time.Minute, "the pause is over", func() answer { return p.succeeds(ana) })
	})
}

// However many try at one moment, on all nodes, no more than five are under way.
func TestLoginsInParallel(t *testing.T) {
	play(t, "login-protection.yaml", 3, func(t *testing.T, p *player) {
		var trying sync.WaitGroup
		var admitted atomic.Int64
		for range 300 {
			trying.Go(func() {
				if p.estimate(ana).Allowed {
					admitted.Add(1)
				}
			})
		}
		trying.Wait()
		if got := admitted.Load(); got != 5 {
			t.Errorf("%d are under way", got)
		}
	})
}

// A user is guessed at from many addresses: 20 failures, then one a minute, but
// not on a device that the user has used before.
func TestLoginUser(t *testing.T) {
	play(t, "login-protection.yaml", 3, func(_ *testing.T, p *player) {
		from := func(i int) object { return ana.with("ip", fmt.Sprintf("198.51.100.%d", i)) }
		for i := range 20 {
			p.admitted("a failure", p.fails(from(i)))
		}
		p.denied("the 21st", p.fails(from(20)), "login-user", http.StatusTooManyRequests)
		p.admitted("another user", p.succeeds(from(20).with("user", "bob")))
		p.admitted("the user's own device", p.succeeds(ana.with("trusted_device", "d1")))
		p.passesAfter(time.Minute, "one a minute", func() answer { return p.fails(from(21)) })
		p.denied("and no more", p.fails(from(22)), "login-user", http.StatusTooManyRequests)
	})
}

// Stolen passwords are tried at one address, one for each user: 50 failures,
// then two a minute.
func TestLoginAddress(t *testing.T) {
	play(t, "login-protection.yaml", 3, func(_ *testing.T, p *player) {
		as := func(i int) object { return ana.with("user", fmt.Sprint("user-", i)) }
		for i := range 50 {
			p.admitted("a failure", p.fails(as(i)))
		}
		p.denied("the 51st", p.fails(as(50)), "login-address", http.StatusTooManyRequests)
		p.admitted("from another address", p.succeeds(as(50).with("ip", "198.51.100.7")))
		p.passesAfter(30*time.Second, "two a minute", func() answer { return p.fails(as(51)) })
		p.denied("without a user too", p.fails(ana.with("user", nil)), "login-address", http.StatusTooManyRequests)
	})
}

// The middleware counts failures as the comment in the file shows.
func TestLoginMiddleware(t *testing.T) {
	play(t, "login-protection.yaml", 1, func(t *testing.T, p *player) {
		failures := httpapi.WithCostAfter(func(status int, _ http.Header, _ int64, _ time.Duration) int64 {
			if status == http.StatusUnauthorized {
				return 1
			}
			return 0
		})
		user := httpapi.WithAttributes(func(r *http.Request, name string) string {
			if name == "user" {
				return r.URL.Query().Get("user")
			}
			return ""
		})
		app := httpapi.Middleware(p.nodes[0], httpapi.ByHeader("X-User"), user, failures)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("password") != "right" {
				w.WriteHeader(http.StatusUnauthorized)
			}
		}))
		for i, step := range []struct {
			password string
			times    int
			status   int
		}{
			{"right", 20, http.StatusOK},
			{"wrong", 4, http.StatusUnauthorized},
			{"right", 20, http.StatusOK},
			{"wrong", 1, http.StatusUnauthorized},
			{"right", 1, http.StatusTooManyRequests},
		} {
			for range step.times {
				w := httptest.NewRecorder()
				app.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/login?user=ana&password="+step.password, nil))
				if w.Code != step.status {
					t.Fatalf("step %d: %d, want %d: %s", i+1, w.Code, step.status, w.Body)
				}
			}
		}
	})
}
