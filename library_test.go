package murmurate_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

func TestAllowAndPeek(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true, Policies: policies(t, policy.Policy{
		Name: "api", Cost: policy.Cost{Default: 2}, Limits: []limiter.Limit{{Algorithm: limiter.FixedWindow, Count: 10, Period: 24 * time.Hour, Align: limiter.AlignFirst}},
	})})
	for i, step := range []struct {
		what    string
		ask     func() (policy.Decision, error)
		allowed bool
		left    int64
		cost    int64
	}{
		{"a peek charges nothing", func() (policy.Decision, error) { return node.Peek(t.Context(), "api", "k") }, true, 10, 0},
		{"the policy's own cost", func() (policy.Decision, error) { return node.Allow(t.Context(), "api", "k") }, true, 8, 0},
		{"a cost of its own", func() (policy.Decision, error) { return node.AllowN(t.Context(), "api", "k", 7) }, true, 1, 7},
		{"cost 0 asks whether cost 1 would pass", func() (policy.Decision, error) { return node.AllowN(t.Context(), "api", "k", 0) }, true, 1, 0},
		{"and a peek, whether the policy's would", func() (policy.Decision, error) { return node.Peek(t.Context(), "api", "k") }, false, 1, 0},
		{"more than is left", func() (policy.Decision, error) { return node.AllowN(t.Context(), "api", "k", 2) }, false, 1, 2},
		{"more than it holds", func() (policy.Decision, error) { return node.AllowN(t.Context(), "api", "k", 11) }, false, 1, 11},
		{"the rest", func() (policy.Decision, error) { return node.AllowN(t.Context(), "api", "k", 1) }, true, 0, 1},
		{"cost 0 at nothing left", func() (policy.Decision, error) { return node.AllowN(t.Context(), "api", "k", 0) }, false, 0, 0},
		{"a reset", func() (policy.Decision, error) { return node.Reset(t.Context(), "api", "k") }, true, 10, 0},
	} {
		d, err := step.ask()
		if err != nil || d.Allowed != step.allowed || d.Remaining != step.left || step.cost > 0 && d.Cost != step.cost {
			t.Errorf("step %d, %s: %v, %+v", i+1, step.what, err, d)
		}
	}
	if _, err := node.AllowN(t.Context(), "api", "k", -1); !errors.Is(err, policy.ErrInput) {
		t.Errorf("a negative cost: %v", err)
	}
}

func TestTakeByALimitMadeInCode(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true})
	admitted := func(l limiter.Limit) (n int) {
		for range 50 {
			d, err := node.Take(t.Context(), "user:42", l)
			if err != nil {
				t.Fatal(err)
			}
			if d.Allowed {
				n++
			}
		}
		return n
	}
	hour := limiter.PerHour(10)
	for i, step := range []struct {
		why   string
		limit limiter.Limit
		want  int
	}{
		{"ten", hour, 10},
		{"the same counter", hour, 0},
		{"another name counts apart", hour.WithName("search"), 10},
		{"another period too", limiter.PerDay(5), 5},
		{"another algorithm too", hour.WithAlgorithm(limiter.SlidingLog), 10},
		{"a raised burst gives room at once", hour.WithBurst(25), 15},
	} {
		if got := admitted(step.limit); got != step.want {
			t.Errorf("step %d, %s: admitted %d, want %d", i+1, step.why, got, step.want)
		}
	}
	if _, err := node.Take(t.Context(), "k", limiter.PerHour(-1)); !errors.Is(err, policy.ErrInput) {
		t.Errorf("a negative count: %v", err)
	}
}

// Nothing in the package is shared by two nodes of one process: with other
// policies, labels, failure modes and observers each goes its own way.
func TestNodesOfOneProcessShareNothing(t *testing.T) {
	t.Parallel()
	type world struct {
		node     *murmurate.Node
		count    int64
		observer *observer
	}
	var worlds []world
	for i, count := range []int64{3, 8} {
		o := &observer{}
		worlds = append(worlds, world{start(t, murmurate.Options{
			Name: "same-name", Label: fmt.Sprint("world", i), Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0", Observer: o,
			Policies: policies(t, policy.Policy{Name: "p", Limits: []limiter.Limit{limiter.PerDay(count)}}),
		}), count, o})
	}
	var calls sync.WaitGroup
	for _, w := range worlds {
		var admitted atomic.Int64
		var own sync.WaitGroup
		for range 100 {
			own.Go(func() {
				if d, err := w.node.Allow(t.Context(), "p", "k"); err == nil && d.Allowed {
					admitted.Add(1)
				}
			})
		}
		calls.Go(func() {
			own.Wait()
			want := fmt.Sprintf("p allowed owner %d, p denied owner %d, p over p %[2]d", w.count, 100-w.count)
			if admitted.Load() != w.count || w.observer.String() != want {
				t.Errorf("admitted %d of %d; observed %s", admitted.Load(), w.count, w.observer)
			}
		})
	}
	calls.Wait()
}

// A request's own failure mode goes before the policy's.
func TestRequestBringsItsFailureMode(t *testing.T) {
	t.Parallel()
	nodes := nodes(t, 2, policies(t, policy.Policy{Name: "p", OnUnreachable: policy.Deny, Limits: []limiter.Limit{limiter.PerHour(100)}}))
	key := ownedBy(t, nodes[1], "p")
	nodes[1].Kill()
	modes := func(m policy.Unreachable) *policy.Unreachable { return &m }
	for _, row := range []struct {
		mode    *policy.Unreachable
		want    limiter.Source
		inForce policy.Unreachable
	}{
		{nil, limiter.SourceFailClosed, policy.Deny},
		{modes(policy.Allow), limiter.SourceFailOpen, policy.Allow},
		{modes(policy.Local), limiter.SourceShare, policy.Local},
		{modes(policy.Deny), limiter.SourceFailClosed, policy.Deny},
	} {
		d, err := nodes[0].Check(t.Context(), policy.Request{Policy: "p", Key: key, OnUnreachable: row.mode})
		if !errors.Is(err, cluster.ErrUnreachable) || d.Source != row.want || d.OnUnreachable != row.inForce {
			t.Errorf("%v: %v, %+v", row.mode, err, d)
		}
	}
}

// ownedBy is a key that node owns.
func ownedBy(t testing.TB, node *murmurate.Node, policyName string) string {
	t.Helper()
	for i := range 10_000 {
		key := fmt.Sprint("key-", i)
		if owner, err := node.OwnerOf(policyName, key); err == nil && owner == node.Name() {
			return key
		}
	}
	t.Fatal("the node owns nothing")
	return ""
}

// A closed node counts nothing: whatever it would admit, others would too.
func TestAfterCloseTheFailureModeDecides(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{limiter.PerHour(100)}
	set := policies(t,
		policy.Policy{Name: "local", Limits: limits},
		policy.Policy{Name: "allow", Limits: limits, OnUnreachable: policy.Allow},
		policy.Policy{Name: "deny", Limits: limits, OnUnreachable: policy.Deny},
	)
	for _, alone := range []bool{true, false} {
		node := start(t, murmurate.Options{Alone: alone, Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0", Policies: set})
		if err := node.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, source := range map[string]limiter.Source{
			"local": limiter.SourceFailClosed, "allow": limiter.SourceFailOpen, "deny": limiter.SourceFailClosed,
		} {
			d, err := node.Allow(t.Context(), name, "k")
			if !errors.Is(err, murmurate.ErrClosed) || d.Source != source || d.Allowed != (name == "allow") {
				t.Errorf("alone %v, %s: %v, %+v", alone, name, err, d)
			}
		}
	}
}

// To cancel a check is no way around a limit, whatever the failure mode.
func TestWhoLeavesIsNotAdmitted(t *testing.T) {
	t.Parallel()
	nodes := nodes(t, 2, policies(t,
		policy.Policy{Name: "local", Limits: []limiter.Limit{limiter.PerHour(100)}},
		policy.Policy{Name: "allow", Limits: []limiter.Limit{limiter.PerHour(100)}, OnUnreachable: policy.Allow},
	))
	for _, name := range []string{"local", "allow"} {
		key := ownedBy(t, nodes[1], name)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 {
			if d, err := nodes[0].Allow(ctx, name, key); !errors.Is(err, context.Canceled) || d.Allowed || d.Source != limiter.SourceFailClosed {
				t.Fatalf("%s: %v, %+v", name, err, d)
			}
		}
		if d, err := nodes[0].Allow(t.Context(), name, key); err != nil || d.Remaining != 99 {
			t.Errorf("%s: %v, %+v", name, err, d)
		}
	}
}
