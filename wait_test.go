package murmurate_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// waitPolicies has a bucket of one unit a second, a queue that serves one a
// second and lets 10 wait, and a limit that denies all.
func waitPolicies(t testing.TB) *policy.Set {
	return policies(t,
		policy.Policy{Name: "bucket", Limits: []limiter.Limit{limiter.PerSecond(1)}},
		policy.Policy{Name: "queue", Limits: []limiter.Limit{limiter.PerSecond(1).WithBurst(10).WithAlgorithm(limiter.LeakyBucket)}},
		policy.Policy{Name: "none", Limits: []limiter.Limit{limiter.PerSecond(0)}},
		policy.Policy{Name: "daily", Limits: []limiter.Limit{limiter.PerDay(1)}},
	)
}

// onVirtualTime runs test with a lone node in a bubble.
func onVirtualTime(t *testing.T, test func(t *testing.T, n *murmurate.Node)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		test(t, start(t, murmurate.Options{Alone: true, Policies: waitPolicies(t)}))
	})
}

func TestWaitTakesTheNextUnit(t *testing.T) {
	onVirtualTime(t, func(t *testing.T, n *murmurate.Node) {
		begin := time.Now()
		for i := range 5 {
			d, err := n.Wait(t.Context(), "bucket", "k")
			if err != nil || !d.Allowed {
				t.Fatalf("call %d: %v, %+v", i+1, err, d)
			}
			if got := time.Since(begin); got != time.Duration(i)*time.Second {
				t.Errorf("call %d was admitted after %v", i+1, got)
			}
		}
	})
}

func TestWaitSleepsUntilItsTurn(t *testing.T) {
	onVirtualTime(t, func(t *testing.T, n *murmurate.Node) {
		begin := time.Now()
		var turns sync.Map
		var calls sync.WaitGroup
		for range 5 {
			calls.Go(func() {
				if _, err := n.Wait(t.Context(), "queue", "k"); err != nil {
					t.Error(err)
				}
				turns.Store(time.Since(begin), true)
			})
		}
		calls.Wait()
		for i := range 5 {
			if _, served := turns.Load(time.Duration(i) * time.Second); !served {
				t.Errorf("nobody was served at %d s", i)
			}
		}
	})
}

func TestWaitersAreServedInOrder(t *testing.T) {
	onVirtualTime(t, func(t *testing.T, n *murmurate.Node) {
		var mu sync.Mutex
		var served []int
		var calls sync.WaitGroup
		for i := range 20 {
			calls.Go(func() {
				if _, err := n.WaitN(t.Context(), "bucket", "k", 1); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				served = append(served, i)
			})
			synctest.Wait() // it is in the queue
		}
		calls.Wait()
		if !slices.IsSorted(served) || len(served) != 20 {
			t.Errorf("served in the order %v", served)
		}
	})
}

func TestWaitGivesUpWhenItIsPlain(t *testing.T) {
	onVirtualTime(t, func(t *testing.T, n *murmurate.Node) {
		within := func(d time.Duration) context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			t.Cleanup(cancel)
			return ctx
		}
		use := func(policyName string, units int64) {
			if d, err := n.AllowN(t.Context(), policyName, "k", units); err != nil || !d.Allowed {
				t.Fatalf("%s: %v, %+v", policyName, err, d)
			}
		}
		use("bucket", 1)
		use("daily", 1)
		use("queue", 3)
		for name, row := range map[string]struct {
			wait func() (policy.Decision, error)
			want error
			left int64 // what the counter shows afterwards, so that nothing was charged
			in   string
		}{
			"a limit of nothing": {func() (policy.Decision, error) { return n.Wait(t.Context(), "none", "k") }, murmurate.ErrNever, 0, "none"},
			"more than it holds": {func() (policy.Decision, error) { return n.WaitN(t.Context(), "daily", "k", 2) }, murmurate.ErrNever, 0, "daily"},
			"a deadline before":  {func() (policy.Decision, error) { return n.Wait(within(time.Hour), "daily", "k") }, context.DeadlineExceeded, 0, "daily"},
			"a turn after it":    {func() (policy.Decision, error) { return n.Wait(within(2*time.Second), "queue", "k") }, context.DeadlineExceeded, 8, "queue"},
			"a context that ended": {func() (policy.Decision, error) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				return n.Wait(ctx, "bucket", "k")
			}, context.Canceled, 0, "bucket"},
			"an unknown policy": {func() (policy.Decision, error) { return n.Wait(t.Context(), "nope", "k") }, policy.ErrUnknownPolicy, 0, "none"},
		} {
			begin := time.Now()
			d, err := row.wait()
			if !errors.Is(err, row.want) || d.Allowed || time.Since(begin) != 0 {
				t.Errorf("%s: %v after %v, %+v", name, err, time.Since(begin), d)
			}
			if d, err := n.Peek(t.Context(), row.in, "k"); err != nil || d.Remaining != row.left {
				t.Errorf("%s: %d left, want %d (%v)", name, d.Remaining, row.left, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(7*time.Second, cancel)
		begin := time.Now()
		if _, err := n.Wait(ctx, "daily", "k"); !errors.Is(err, context.Canceled) || time.Since(begin) != 7*time.Second {
			t.Errorf("a context that ends: %v after %v", err, time.Since(begin))
		}
	})
}

// Of several who wait, those behind the first give up when they have to, and
// at once where waiting cannot help.
func TestWaitersInTheQueueGiveUp(t *testing.T) {
	onVirtualTime(t, func(t *testing.T, n *murmurate.Node) {
		if _, err := n.Wait(t.Context(), "daily", "k"); err != nil {
			t.Fatal(err)
		}
		first := make(chan error, 1)
		go func() {
			_, err := n.Wait(t.Context(), "daily", "k")
			first <- err
		}()
		synctest.Wait()
		leaving, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		short, cancelShort := context.WithTimeout(t.Context(), time.Minute)
		defer cancelShort()
		for name, row := range map[string]struct {
			ctx   context.Context
			units int64
			want  error
		}{
			"a deadline before":  {short, 1, context.DeadlineExceeded},
			"more than it holds": {t.Context(), 2, murmurate.ErrNever},
		} {
			begin := time.Now()
			if d, err := n.WaitN(row.ctx, "daily", "k", row.units); !errors.Is(err, row.want) || d.Allowed || d.Limit != 1 || time.Since(begin) != 0 {
				t.Errorf("%s: %v after %v, %+v", name, err, time.Since(begin), d)
			}
		}
		begin := time.Now()
		if d, err := n.Wait(leaving, "daily", "k"); !errors.Is(err, context.Canceled) || d.Allowed || time.Since(begin) != time.Minute {
			t.Errorf("leaving: %v after %v", err, time.Since(begin))
		}
		if err := <-first; err != nil {
			t.Errorf("the first: %v", err)
		}
	})
}

// Cost 0 asks, and is never told to wait for a turn.
func TestWaitForNothingDoesNotWait(t *testing.T) {
	onVirtualTime(t, func(t *testing.T, n *murmurate.Node) {
		for range 3 {
			if _, err := n.Allow(t.Context(), "queue", "k"); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		d, err := n.WaitN(t.Context(), "queue", "k", 0)
		if err != nil || d.Cost != 0 || d.Delay != 0 || time.Since(begin) != 0 {
			t.Errorf("%v after %v, %+v", err, time.Since(begin), d)
		}
	})
}

// A reset ends a wait within seconds, however long it would have been.
func TestWaitSeesAReset(t *testing.T) {
	onVirtualTime(t, func(t *testing.T, n *murmurate.Node) {
		if _, err := n.Wait(t.Context(), "daily", "k"); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, func() {
			if _, err := n.Reset(context.Background(), "daily", "k"); err != nil {
				t.Error(err)
			}
		})
		begin := time.Now()
		d, err := n.Wait(t.Context(), "daily", "k")
		if took := time.Since(begin); err != nil || !d.Allowed || took < time.Minute || took > time.Minute+6*time.Second {
			t.Errorf("%v after %v, %+v", err, took, d)
		}
	})
}

func TestWaitEndsWithTheNode(t *testing.T) {
	onVirtualTime(t, func(t *testing.T, n *murmurate.Node) {
		if _, err := n.Wait(t.Context(), "daily", "k"); err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := n.Wait(t.Context(), "daily", "k")
				waiting <- err
			}()
		}
		synctest.Wait()
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := <-waiting; !errors.Is(err, murmurate.ErrClosed) {
				t.Errorf("a wait ended with %v", err)
			}
		}
		for range 50 {
			if _, err := n.Wait(t.Context(), "bucket", "k"); !errors.Is(err, murmurate.ErrClosed) {
				t.Fatalf("a wait after Close: %v", err)
			}
		}
	})
}

// A denial of the failure mode says nothing about when the owner is back, so
// whoever waits goes on asking.
func TestWaitOutlastsTheOwnersAbsence(t *testing.T) {
	t.Parallel()
	nodes := nodes(t, 2, policies(t, policy.Policy{Name: "deny", OnUnreachable: policy.Deny, Limits: []limiter.Limit{limiter.PerHour(100)}}))
	key := ownedBy(t, nodes[1], "deny")
	nodes[1].Kill()
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer cancel()
	d, err := nodes[0].Wait(ctx, "deny", key)
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() == nil || d.Source != limiter.SourceFailClosed {
		t.Errorf("%v, %+v", err, d)
	}
}
