package murmurate_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// counted is a policy of one limit, by name "p".
func counted(algorithm limiter.Algorithm, count int64) policy.Policy {
	limit := limiter.Limit{Algorithm: algorithm, Count: count, Period: time.Hour}
	if algorithm == limiter.LeakyBucket {
		limit.Burst = count - 1 // its capacity is then count
	}
	return policy.Policy{Name: "p", Limits: []limiter.Limit{limit}}
}

// changes are what happens to a limit of 100 of which half is used. The time
// stands still.
var changes = []struct {
	count     int64 // the limit from now on
	cost      int64
	allowed   bool
	remaining int64
}{
	{count: 100, cost: 50, allowed: true, remaining: 50},
	{count: 1000, cost: 1, allowed: true, remaining: 949},
	{count: 1000, cost: 950, allowed: false, remaining: 949},
	{count: 1000, cost: 9, allowed: true, remaining: 940},
	{count: 50, cost: 1, allowed: false, remaining: 0},
	{count: 61, cost: 1, allowed: true, remaining: 0},
	{count: 61, cost: 1, allowed: false, remaining: 0},
	{count: 100, cost: 1, allowed: true, remaining: 38},
}

var everyAlgorithm = []limiter.Algorithm{
	limiter.TokenBucket, limiter.LeakyBucket, limiter.FixedWindow, limiter.SlidingWindow, limiter.SlidingLog,
}

func TestDecisionsFollowAChangedLimitAtOnce(t *testing.T) {
	t.Parallel()
	for _, algorithm := range everyAlgorithm {
		t.Run(algorithm.String(), func(t *testing.T) {
			t.Parallel()
			testcluster.Run(t, 2, func(t *testing.T, c *testcluster.Cluster) {
				for i, step := range changes {
					n := c.Nodes()[i%2].Node // neither the owner nor another node remembers
					if err := n.SetPolicies(policies(t, counted(algorithm, step.count))); err != nil {
						t.Fatal(err)
					}
					d, err := n.AllowN(t.Context(), "p", "key", step.cost)
					if err != nil || d.Allowed != step.allowed || d.Remaining != step.remaining || d.Limit != step.count {
						t.Errorf("step %d, %d of %d: %v, allowed %t, remaining %d, limit %d; want allowed %t, remaining %d",
							i, step.cost, step.count, err, d.Allowed, d.Remaining, d.Limit, step.allowed, step.remaining)
					}
				}
			}, counted(algorithm, 100))
		})
	}
}

// Every limit of every check is of one set, which was in force while the
// check was under way.
func TestSetPoliciesUnderParallelChecks(t *testing.T) {
	t.Parallel()
	const base, swaps = 1_000_000_000, 200
	generation := func(g int64) *policy.Set {
		limits := []limiter.Limit{
			{Name: "hourly", Algorithm: limiter.FixedWindow, Count: base + g, Period: time.Hour},
			{Name: "daily", Algorithm: limiter.TokenBucket, Count: base + g, Period: 24 * time.Hour},
		}
		return policies(t, policy.Policy{Name: "a", Limits: limits}, policy.Policy{Name: "b", Limits: limits})
	}
	node := start(t, murmurate.Options{Alone: true, Policies: generation(0)})
	var asked, begun, done atomic.Int64 // checks, and the set that is being put in force, and that is
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for done.Load() < swaps {
				least := done.Load()
				d, err := node.Check(t.Context(), policy.Request{Key: "key", Attributes: visitor{path: "/"}})
				most := begun.Load()
				if err != nil || !d.Allowed || len(d.Limits) != 4 {
					t.Errorf("%v, allowed %t with %d limits", err, d.Allowed, len(d.Limits))
					return
				}
				for _, l := range d.Limits {
					if got := l.Limit - base; got < least || got > most || l.Limit != d.Limits[0].Limit {
						t.Errorf("%s is of set %d, want %d to %d, the same as all of the check", l.Name, got, least, most)
						return
					}
				}
				asked.Add(1)
			}
		})
	}
	for g := int64(1); g <= swaps; g++ {
		begun.Store(g)
		if err := node.SetPolicies(generation(g)); err != nil {
			t.Error(err)
		}
		done.Store(g)
		for seen := asked.Load(); asked.Load() == seen && !t.Failed(); {
			runtime.Gosched() // so that every set is in force for some check
		}
	}
	workers.Wait()
}

func TestSetPolicies(t *testing.T) {
	t.Parallel()
	initial := policies(t, counted(limiter.FixedWindow, 1))
	node := start(t, murmurate.Options{Alone: true, Policies: initial})
	if err := node.SetPolicies(nil); err == nil || node.Policies() != initial {
		t.Errorf("nil policies: %v", err)
	}
	if _, err := node.OwnerOf("p", "key"); err != nil {
		t.Error(err)
	}
	next := policies(t, policy.Policy{Name: "q", Limits: counted(limiter.FixedWindow, 1).Limits})
	if err := node.SetPolicies(next); err != nil || node.Policies() != next {
		t.Errorf("%v; the new policies in force: %t", err, node.Policies() == next)
	}
	for name, want := range map[string]error{"p": policy.ErrInput, "q": nil} {
		if _, err := node.OwnerOf(name, "key"); !errors.Is(err, want) {
			t.Errorf("owner of %s/key: %v, want %v", name, err, want)
		}
		if _, err := node.Allow(t.Context(), name, "key"); !errors.Is(err, want) {
			t.Errorf("check of %s: %v, want %v", name, err, want)
		}
	}
}

// A wait that is under way goes by the policies in force.
func TestWaitFollowsChangedPolicies(t *testing.T) {
	t.Parallel()
	one := counted(limiter.FixedWindow, 1)
	for name, row := range map[string]struct {
		set  *policy.Set
		want error
	}{
		"a higher limit":    {policies(t, counted(limiter.FixedWindow, 2)), nil},
		"a limit that ends": {policies(t, policy.Policy{Name: "q", Limits: one.Limits}), policy.ErrInput},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
				if d, err := n.Allow(t.Context(), "p", "key"); err != nil || !d.Allowed {
					t.Fatalf("%v, allowed %t", err, d.Allowed)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
				defer cancel()
				time.AfterFunc(time.Minute, func() { _ = n.SetPolicies(row.set) })
				began := time.Now()
				if _, err := n.Wait(ctx, "p", "key"); !errors.Is(err, row.want) || time.Since(began) > 2*time.Minute {
					t.Errorf("%v after %v, want %v soon after a minute", err, time.Since(began), row.want)
				}
			}, one)
		})
	}
}
