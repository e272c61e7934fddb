package cluster

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// request is what a user asks of a site: a unit of the user's own limit and
// one of the site's.
type request struct{ user, site *limiter.Call }

// subjectsOf finds n subjects that id owns in v.
func subjectsOf(v *View, id string, n int) []limiter.Subject {
	var found []limiter.Subject
	for i := rand.Uint64(); len(found) < n; i++ {
		if s := (limiter.Subject{Hi: i * 0x9e3779b97f4a7c15, Lo: i}); v.OwnerID(s) == id {
			found = append(found, s)
		}
	}
	return found
}

func requestOf(user, site limiter.Subject) request {
	u, _ := take(user, perHour(5))
	s, _ := take(site, perHour(10))
	return request{u, s}
}

// sendAll sends n requests at one time through the given nodes, and returns
// how many were admitted. The failure mode denies.
func (m *mesh) sendAll(r request, n int, through ...string) int {
	m.t.Helper()
	var admitted atomic.Int64
	var sending sync.WaitGroup
	for i := range n {
		node := m.nodes[through[i%len(through)]]
		sending.Go(func() {
			user, site := *r.user, *r.site
			asks := []Ask{
				{Call: &site, Results: make([]limiter.Result, 1)},
				{Call: &user, Results: make([]limiter.Result, 1)},
			}
			began := time.Now()
			node.router.DoAll(m.t.Context(), asks, func(i int) {
				asks[i].Results[0] = limiter.Result{Source: limiter.SourceFailClosed}
			})
			if took := time.Since(began); took > node.router.deadline {
				m.t.Errorf("a check took %v", took)
			}
			if asks[0].Admitted() && asks[1].Admitted() {
				admitted.Add(1)
			}
		})
	}
	sending.Wait()
	return int(admitted.Load())
}

// User 5/h and site 10/h on different owners: what the narrow limit denies
// does not use up the broad one, and the other way round.
func TestUserAndSiteOnDifferentOwners(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMesh(t, "a", "b", "c")
		all := []string{"a", "b", "c"}
		for round := range 100 {
			site := subjectsOf(m.nodes["a"].view, all[round%3], 1)[0]
			users := subjectsOf(m.nodes["a"].view, all[(round+1+round/3%2)%3], 3)
			for i, want := range []int{5, 5, 0} {
				r := requestOf(users[i], site)
				if got := m.sendAll(r, 20, all...); got != want {
					t.Errorf("round %d, user %d: %d admitted, want %d", round, i, got, want)
				}
				if user, left := m.remaining(r.user), m.remaining(r.site); user != int64(5-want) || left != int64(max(5-5*i, 0)) {
					t.Errorf("round %d, user %d: %d left for the user, %d for the site", round, i, user, left)
				}
			}
		}
	})
}

// Whatever is lost, late or dies: no owner charges more than its limit, no
// more is admitted than was charged, and once the holds have lapsed all that
// was not charged is free.
func TestHoldsUnderFaults(t *testing.T) {
	t.Parallel()
	percent := func(n int) func() bool { return func() bool { return rand.IntN(100) < n } }
	upTo := func(d time.Duration) func() time.Duration {
		return func() time.Duration { return time.Duration(rand.Int64N(int64(d))) }
	}
	tests := []struct {
		name  string
		loses func() bool
		trip  func() time.Duration
		kills string // after a few milliseconds
	}{
		{"loss", percent(30), upTo(2 * time.Millisecond), ""},
		{"delay", percent(0), upTo(40 * time.Millisecond), ""},
		{"loss and delay", percent(15), upTo(25 * time.Millisecond), ""},
		{"the user's owner dies", percent(0), upTo(3 * time.Millisecond), "b"},
		{"the site's owner dies", percent(0), upTo(3 * time.Millisecond), "c"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for range 50 {
					m := newMesh(t, "a", "b", "c") // all of b and c is remote to a
					m.loses, m.trip = test.loses, test.trip
					r := requestOf(subjectsOf(m.nodes["a"].view, "b", 1)[0], subjectsOf(m.nodes["a"].view, "c", 1)[0])
					if test.kills != "" {
						time.AfterFunc(upTo(10*time.Millisecond)(), func() { m.nodes[test.kills].dead.Store(true) })
					}
					admitted := int64(0)
					for range 3 {
						admitted += int64(m.sendAll(r, 8, "a"))
					}
					time.Sleep(time.Second) // whatever is on its way arrives, and holds lapse
					user, site := m.nodes["b"].charged.Load(), m.nodes["c"].charged.Load()
					if admitted > user || admitted > site || user > 5 || site > 10 {
						t.Errorf("%d admitted, %d charged to the user, %d to the site", admitted, user, site)
					}
					if u, s := m.remaining(r.user), m.remaining(r.site); u != 5-user || s != 10-site {
						t.Errorf("%d left for the user after %d, %d for the site after %d", u, user, s, site)
					}
				}
			})
		})
	}
}
