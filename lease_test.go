package murmurate_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// atOnce is a policy of so many slots, for 30 s without a renewal.
func atOnce(name string, count int64) policy.Policy {
	return policy.Policy{Name: name, Limits: []limiter.Limit{{Algorithm: limiter.Concurrency, Count: count, Period: limiter.DefaultTTL}}}
}

func of(policyName, key string) policy.Request { return policy.Request{Policy: policyName, Key: key} }

// acquire is a lease that is admitted.
func acquire(t testing.TB, n *murmurate.Node, r policy.Request) murmurate.Lease {
	t.Helper()
	lease, d, err := n.Acquire(t.Context(), r)
	if err != nil || lease == nil || !d.Allowed {
		t.Fatalf("lease %v, %+v, %v", lease, d, err)
	}
	return lease
}

// free is how many slots of a policy and key are free.
func free(t testing.TB, n *murmurate.Node, policyName, key string) int64 {
	t.Helper()
	d, err := n.Peek(t.Context(), policyName, key)
	if err != nil {
		t.Fatal(err)
	}
	return d.Remaining
}

func release(t testing.TB, lease murmurate.Lease) {
	t.Helper()
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReleaseTwiceFreesOne(t *testing.T) {
	t.Parallel()
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		first, _ := acquire(t, n, of("api", "k")), acquire(t, n, of("api", "k"))
		lease, d, err := n.Acquire(t.Context(), of("api", "k"))
		if err != nil || lease != nil || d.Allowed || d.RetryAfter != limiter.DefaultTTL || d.Remaining != 0 {
			t.Errorf("a third of two: %v, %+v, %v", lease, d, err)
		}
		if first.Err() != nil {
			t.Errorf("before the release: %v", first.Err())
		}
		var releasing sync.WaitGroup
		for range 10 {
			releasing.Go(func() { release(t, first) })
		}
		releasing.Wait()
		<-first.Done()
		if got := free(t, n, "api", "k"); got != 1 || !errors.Is(first.Err(), policy.ErrReleased) {
			t.Errorf("%d free, %v", got, first.Err())
		}
	}, atOnce("api", 2))
}

// A lease is renewed for as long as its holder takes.
func TestLeaseIsRenewedForEver(t *testing.T) {
	t.Parallel()
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		r := of("api", "k")
		r.TTL = 3 * time.Second
		lease := acquire(t, n, r)
		for range 1000 {
			time.Sleep(1700 * time.Millisecond)
			if free(t, n, "api", "k") != 0 || lease.Err() != nil {
				t.Fatalf("the slot is free: %v", lease.Err())
			}
		}
		release(t, lease)
		if got := free(t, n, "api", "k"); got != 1 {
			t.Errorf("%d free in the end", got)
		}
	}, atOnce("api", 1))
}

// A slot that nobody renews is back at its TTL, and not before; its lease does
// not come back.
func TestUnrenewedSlotIsBackAtItsTTL(t *testing.T) {
	t.Parallel()
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		grant, err := n.Grant(t.Context(), of("api", "k"))
		if err != nil || grant.TTL != limiter.DefaultTTL || grant.Token == "" {
			t.Fatalf("%+v, %v", grant, err)
		}
		time.Sleep(20 * time.Second)
		renewed, err := n.Renew(t.Context(), grant.Token, 10*time.Second)
		if err != nil || renewed.TTL != 10*time.Second || renewed.Token != grant.Token || !renewed.Decision.Allowed || renewed.Decision.Limits[0].Name != "api" {
			t.Fatalf("%+v, %v", renewed, err)
		}
		time.Sleep(10*time.Second - time.Millisecond)
		if lease, _, _ := n.Acquire(t.Context(), of("api", "k")); lease != nil {
			t.Error("the slot is back a millisecond early")
		}
		time.Sleep(time.Millisecond)
		other := acquire(t, n, of("api", "k"))
		for round := range 2 { // while another has the slot, and when it is free
			if _, err := n.Renew(t.Context(), grant.Token, 0); !errors.Is(err, policy.ErrLapsed) {
				t.Errorf("renewed after the TTL: %v", err)
			}
			if released, err := n.Release(t.Context(), grant.Token); !released || err != nil {
				t.Errorf("released after the TTL: %v, %v", released, err)
			}
			if round == 0 && other.Err() != nil {
				t.Errorf("the other lost its slot: %v", other.Err())
			}
			release(t, other)
		}
		if got := free(t, n, "api", "k"); got != 1 {
			t.Errorf("%d free", got)
		}
	}, atOnce("api", 1))
}

// A reset frees all slots, and whoever had one hears of it.
func TestResetEndsLeases(t *testing.T) {
	t.Parallel()
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		lease := acquire(t, n, of("api", "k"))
		if d, err := n.Reset(t.Context(), "api", "k"); err != nil || d.Remaining != 2 {
			t.Errorf("reset: %+v, %v", d, err)
		}
		<-lease.Done()
		if !errors.Is(lease.Err(), policy.ErrLapsed) {
			t.Errorf("the lease ended with %v", lease.Err())
		}
		release(t, lease)
	}, atOnce("api", 2))
}

// Ten waiters that want equally much get equally much, in turn.
func TestWaitersAreServedInTurn(t *testing.T) {
	t.Parallel()
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		counts := make([]int, 10)
		var waiting sync.WaitGroup
		for i := range counts {
			waiting.Go(func() {
				for {
					lease, _, err := n.WaitAcquire(ctx, of("api", "k"))
					if err != nil {
						if !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
						return
					}
					time.Sleep(50 * time.Millisecond)
					release(t, lease)
					counts[i]++
				}
			})
		}
		waiting.Wait()
		least, most := counts[0], counts[0]
		for _, c := range counts {
			least, most = min(least, c), max(most, c)
		}
		if least < 150 || most-least > 1 {
			t.Errorf("served %v times", counts)
		}
		if got := free(t, n, "api", "k"); got != 2 {
			t.Errorf("%d free in the end", got)
		}
	}, atOnce("api", 2))
}

// Whoever waits gives up when waiting does not help, and leaves nothing.
func TestWaitAcquireGivesUp(t *testing.T) {
	t.Parallel()
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		lease := acquire(t, n, of("api", "k"))
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var waiting sync.WaitGroup
		for range 5 { // the first in the queue, and others
			waiting.Go(func() {
				began := time.Now()
				got, d, err := n.WaitAcquire(hurried, of("api", "k"))
				if got != nil || d.Allowed || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second || d.Policy != "api" {
					t.Errorf("%v, %+v, %v after %v", got, d, err, time.Since(began))
				}
			})
		}
		waiting.Wait()
		if _, _, err := n.WaitAcquire(t.Context(), of("none", "k")); !errors.Is(err, murmurate.ErrNever) {
			t.Errorf("for a slot of none: %v", err)
		}
		if _, _, err := n.WaitAcquire(t.Context(), of("typo", "k")); !errors.Is(err, policy.ErrUnknownPolicy) {
			t.Errorf("for a slot of nobody: %v", err)
		}
		closing := make(chan error)
		go func() {
			_, _, err := n.WaitAcquire(t.Context(), of("api", "k"))
			closing <- err
		}()
		synctest.Wait()
		if err := n.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-closing; !errors.Is(err, murmurate.ErrClosed) {
			t.Errorf("on a node that closes: %v", err)
		}
		<-lease.Done()
		if !errors.Is(lease.Err(), murmurate.ErrClosed) {
			t.Errorf("the lease of a closed node ended with %v", lease.Err())
		}
		if _, d, err := n.Acquire(t.Context(), of("api", "k")); !errors.Is(err, murmurate.ErrClosed) || d.Allowed {
			t.Errorf("on a closed node: %+v, %v", d, err)
		}
	}, atOnce("api", 1), atOnce("none", 0))
}

func TestAcquireRefuses(t *testing.T) {
	t.Parallel()
	n := start(t, murmurate.Options{Alone: true, Policies: policies(t, atOnce("api", 1), policy.Policy{
		Name: "rate", Limits: []limiter.Limit{limiter.PerMinute(5)}})})
	for _, row := range []struct {
		r           policy.Request
		field, says string
	}{
		{of("rate", "k"), "policy", `give policy "rate" a limit with algorithm concurrency`},
		{policy.Request{Policy: "api", Key: "k", TTL: 31 * time.Second}, "ttl_ms", `must be at most 30000, the ttl of limit "api"`},
		{policy.Request{Policy: "api", Key: "k", TTL: 1}, "ttl_ms", "must be at least 1ms"},
		{policy.Request{Policy: "api", Key: "k", TTL: -1}, "ttl_ms", "must be at least 1ms"},
		{of("api", ""), "key", "must not be empty"},
	} {
		lease, _, err := n.Acquire(t.Context(), row.r)
		var input *policy.InputError
		if lease != nil || !errors.As(err, &input) || input.Field != row.field || !strings.Contains(input.Detail, row.says) {
			t.Errorf("%+v: %v", row.r, err)
		}
	}
	if got := free(t, n, "api", "k"); got != 1 {
		t.Errorf("%d free", got)
	}
}

// A policy that counts nothing for a key occupies nothing, and one that blocks
// it denies.
func TestLeasesOfExceptions(t *testing.T) {
	t.Parallel()
	p := atOnce("api", 1)
	p.Overrides = []policy.Override{{Key: "vip", Unlimited: true}, {Key: "thief", Blocked: true}}
	shadow := atOnce("shadow", 1)
	shadow.Shadow = true
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		for range 3 {
			lease := acquire(t, n, of("api", "vip"))
			defer release(t, lease)
			time.Sleep(time.Minute)
			if lease.Err() != nil {
				t.Errorf("a lease of nothing ended with %v", lease.Err())
			}
			defer release(t, acquire(t, n, of("shadow", "k")))
		}
		if n.Keys() != 1 {
			t.Errorf("%d slots are occupied, want that of the policy in shadow", n.Keys())
		}
		if lease, d, err := n.Acquire(t.Context(), of("api", "thief")); lease != nil || d.Allowed || err != nil {
			t.Errorf("blocked: %v, %+v, %v", lease, d, err)
		}
	}, p, shadow)
}

// Many leases one after the other leave nothing behind, in memory or running.
func TestLeasesLeaveNothing(t *testing.T) {
	n := start(t, murmurate.Options{Alone: true, Policies: policies(t, atOnce("api", 100))})
	cycle := func(i int) { release(t, acquire(t, n, of("api", fmt.Sprint(i%50)))) }
	for i := range 100 {
		cycle(i)
	}
	goroutines, before := runtime.NumGoroutine(), heapInUse()
	for i := range 100_000 {
		cycle(i)
	}
	if n.Keys() != 0 {
		t.Errorf("%d slots are occupied", n.Keys())
	}
	if after := heapInUse(); after > before+256<<10 {
		t.Errorf("%d bytes are left", after-before)
	}
	if now := runtime.NumGoroutine(); now > goroutines {
		t.Errorf("%d goroutines, %d before", now, goroutines)
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Wait asks for a slot as often as is worth while, and is not put off by how
// long its holder could take.
func TestWaitForASlot(t *testing.T) {
	t.Parallel()
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		lease := acquire(t, n, of("api", "k"))
		time.AfterFunc(time.Second, func() { release(t, lease) })
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		d, err := n.Wait(ctx, "api", "k")
		if took := time.Since(began); err != nil || !d.Allowed || took < time.Second || took > time.Second+20*time.Millisecond {
			t.Errorf("%+v, %v after %v", d, err, took)
		}
		if got := free(t, n, "api", "k"); got != 1 {
			t.Errorf("%d free: who asks occupies nothing", got)
		}
	}, atOnce("api", 1))
}
