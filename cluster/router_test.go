package cluster

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/ring"
)

// fakePeer answers calls with a function.
type fakePeer struct {
	down bool
	do   func(ctx context.Context, deadline time.Time, call *limiter.Call, results []limiter.Result) error
	n    int // calls seen
}

func (p *fakePeer) Do(ctx context.Context, deadline time.Time, call *limiter.Call, results []limiter.Result) error {
	p.n++
	return p.do(ctx, deadline, call, results)
}
func (p *fakePeer) Reachable() bool { return !p.down }
func (p *fakePeer) Close()          {}

// fixture is a router of node "a" whose view the test sets.
type fixture struct {
	t        *testing.T
	view     *View
	router   *Router
	owner    *Owner
	share    *Share
	observed map[Forwarded]int
}

func newFixture(t *testing.T, peers map[string]Peer, ids ...string) *fixture {
	t.Helper()
	f := &fixture{t: t, observed: map[Forwarded]int{}}
	f.view = testView(t, peers, ids...)
	clock := NewClock()
	var counting sync.Mutex
	view := func() *View { return f.view }
	f.owner = NewOwner(limiter.NewTable(limiter.TableOptions{}), clock, view, nil)
	f.share = NewShare(limiter.NewTable(limiter.TableOptions{}), clock, view)
	f.router = NewRouter(RouterOptions{
		View: view, Owner: f.owner, Deadline: 50 * time.Millisecond,
		Observe: func(o Forwarded) {
			counting.Lock()
			defer counting.Unlock()
			f.observed[o]++
		},
	})
	return f
}

// testView is a's view of a cluster of ids.
func testView(t *testing.T, peers map[string]Peer, ids ...string) *View {
	t.Helper()
	r, err := ring.Build(ids)
	if err != nil {
		t.Fatal(err)
	}
	v := &View{Self: "a", Ring: r, Digest: r.Digest()}
	for _, id := range r.Members() {
		v.peers = append(v.peers, peers[id])
	}
	return v
}

// subjectOf finds a subject that id owns in v.
func subjectOf(t *testing.T, v *View, id string) limiter.Subject {
	t.Helper()
	for i := uint64(1); i < 1<<20; i++ {
		s := limiter.Subject{Hi: i * 0x9e3779b97f4a7c15, Lo: i}
		if v.OwnerID(s) == id {
			return s
		}
	}
	t.Fatalf("%s owns nothing", id)
	return limiter.Subject{}
}

func take(s limiter.Subject, limits ...limiter.Limit) (*limiter.Call, []limiter.Result) {
	call := &limiter.Call{Subject: s}
	for i := range limits {
		call.Charges = append(call.Charges, limiter.Charge{Limit: &limits[i], Tag: limits[i].Tag(), Cost: 1})
	}
	return call, make([]limiter.Result, len(limits))
}

func perHour(count int64) limiter.Limit {
	return limiter.Limit{Name: "l", Algorithm: limiter.TokenBucket, Count: count, Period: time.Hour}
}

func TestOwnCallsNeedNoPeer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil, "a", "b")
	call, results := take(subjectOf(t, f.view, "a"), perHour(1))
	for i, allowed := range []bool{true, false} {
		if err := f.router.Do(t.Context(), call, results); err != nil {
			t.Fatal(err)
		}
		if results[0].Allowed != allowed || results[0].Source != limiter.SourceOwner {
			t.Errorf("call %d: %+v", i, results[0])
		}
	}
}

func TestForwardReachesTheOwner(t *testing.T) {
	t.Parallel()
	b := &fakePeer{do: func(_ context.Context, _ time.Time, _ *limiter.Call, results []limiter.Result) error {
		results[0] = limiter.Result{Allowed: true, Remaining: 7}
		return nil
	}}
	f := newFixture(t, map[string]Peer{"b": b}, "a", "b")
	call, results := take(subjectOf(t, f.view, "b"), perHour(1))
	if err := f.router.Do(t.Context(), call, results); err != nil {
		t.Fatal(err)
	}
	if results[0].Remaining != 7 || f.observed[ForwardOK] != 1 {
		t.Errorf("results %+v, observed %v", results, f.observed)
	}
}

// A stale view costs one redirect, and never a second charge.
func TestStaleViewIsFollowedOnce(t *testing.T) {
	t.Parallel()
	var f *fixture
	c := &fakePeer{do: func(context.Context, time.Time, *limiter.Call, []limiter.Result) error { return nil }}
	b := &fakePeer{}
	peers := map[string]Peer{"b": b, "c": c}
	f = newFixture(t, peers, "a", "b")
	newer := testView(t, peers, "a", "b", "c")
	var subject limiter.Subject
	for i := uint64(1); ; i++ {
		subject = limiter.Subject{Hi: i * 0x9e3779b97f4a7c15}
		if f.view.OwnerID(subject) == "b" && newer.OwnerID(subject) == "c" {
			break
		}
	}
	b.do = func(context.Context, time.Time, *limiter.Call, []limiter.Result) error {
		f.view = newer
		return ErrNotOwner
	}
	call, results := take(subject, perHour(1))
	if err := f.router.Do(t.Context(), call, results); err != nil {
		t.Fatal(err)
	}
	if b.n != 1 || c.n != 1 || f.observed[ForwardRedirected] != 1 {
		t.Errorf("b was asked %d times, c %d times; %v", b.n, c.n, f.observed)
	}
}

// The other node may be the one that has not heard: it is asked again, after
// a moment for the placements to be exchanged.
func TestOwnerThatHasNotHeardYet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &fakePeer{}
		b.do = func(context.Context, time.Time, *limiter.Call, []limiter.Result) error {
			if b.n < 3 {
				return ErrNotOwner
			}
			return nil
		}
		f := newFixture(t, map[string]Peer{"b": b}, "a", "b")
		call, results := take(subjectOf(t, f.view, "b"), perHour(1))
		began := time.Now()
		if err := f.router.Do(t.Context(), call, results); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 5*time.Millisecond {
			t.Errorf("it took %v, want 1 ms and 4 ms between three attempts", took)
		}
	})
}

// Disagreement that lasts ends in time, by count or by deadline.
func TestOwnersThatNeverAgree(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		answer time.Duration // each
		asked  int
	}{{0, 1 + maxRedirects}, {20 * time.Millisecond, 3}} {
		synctest.Test(t, func(t *testing.T) {
			b := &fakePeer{do: func(context.Context, time.Time, *limiter.Call, []limiter.Result) error {
				time.Sleep(row.answer)
				return ErrNotOwner
			}}
			f := newFixture(t, map[string]Peer{"b": b}, "a", "b")
			call, results := take(subjectOf(t, f.view, "b"), perHour(1))
			began := time.Now()
			err := f.router.Do(t.Context(), call, results)
			if !errors.Is(err, ErrUnreachable) || b.n != row.asked {
				t.Errorf("asked %d times, want %d: %v", b.n, row.asked, err)
			}
			if took := time.Since(began); took > 65*time.Millisecond {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestRedirectToItself(t *testing.T) {
	t.Parallel()
	var f *fixture
	b := &fakePeer{do: func(context.Context, time.Time, *limiter.Call, []limiter.Result) error {
		f.view = testView(t, nil, "a")
		return ErrNotOwner
	}}
	f = newFixture(t, map[string]Peer{"b": b}, "a", "b")
	call, results := take(subjectOf(t, f.view, "b"), perHour(1))
	if err := f.router.Do(t.Context(), call, results); err != nil || !results[0].Allowed {
		t.Errorf("%v, %+v", err, results)
	}
}

func TestRedirectsEnd(t *testing.T) {
	t.Parallel()
	var f *fixture
	b := &fakePeer{}
	peers := map[string]Peer{"b": b}
	b.do = func(context.Context, time.Time, *limiter.Call, []limiter.Result) error {
		f.view = testView(t, peers, "a", "b") // newer, and no wiser
		return ErrNotOwner
	}
	f = newFixture(t, peers, "a", "b")
	call, results := take(subjectOf(t, f.view, "b"), perHour(1))
	err := f.router.Do(t.Context(), call, results)
	if !errors.Is(err, ErrUnreachable) || !errors.Is(err, ErrNotOwner) {
		t.Errorf("error %v", err)
	}
	if b.n != 1+maxRedirects {
		t.Errorf("b was asked %d times", b.n)
	}
}

func TestUnreachableOwner(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, row := range []struct {
		name  string
		peer  Peer
		ids   []string
		asked string
		cause error
	}{
		{"session down", &fakePeer{down: true}, []string{"a", "b"}, "b", ErrNoSession},
		{"not in gossip", nil, []string{"a", "b"}, "b", ErrNoSession},
		{"breaks", &fakePeer{do: func(context.Context, time.Time, *limiter.Call, []limiter.Result) error { return broken }}, []string{"a", "b"}, "b", broken},
		{"no owner at all", nil, nil, "", ErrNoOwner},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			peers := map[string]Peer{}
			if row.peer != nil {
				peers["b"] = row.peer
			}
			f := newFixture(t, peers, row.ids...)
			call, results := take(subjectOf(t, f.view, row.asked), perHour(1))
			err := f.router.Do(t.Context(), call, results)
			unreachable, ok := errors.AsType[*UnreachableError](err)
			if !ok || unreachable.Member != row.asked || !errors.Is(err, row.cause) || !errors.Is(err, ErrUnreachable) {
				t.Errorf("error %v", err)
			}
			if f.observed[ForwardUnreachable] != 1 {
				t.Errorf("observed %v", f.observed)
			}
		})
	}
}

// A caller that leaves says nothing of the owner.
func TestCancelledForward(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := &fakePeer{do: func(ctx context.Context, _ time.Time, _ *limiter.Call, _ []limiter.Result) error {
		cancel()
		return ctx.Err()
	}}
	f := newFixture(t, map[string]Peer{"b": b}, "a", "b")
	call, results := take(subjectOf(t, f.view, "b"), perHour(1))
	err := f.router.Do(ctx, call, results)
	if !errors.Is(err, ErrUnreachable) || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if f.observed[ForwardCancelled] != 1 || f.observed[ForwardUnreachable] != 0 {
		t.Errorf("observed %v", f.observed)
	}
}

func TestFullOwnerIsNotUnreachable(t *testing.T) {
	t.Parallel()
	b := &fakePeer{do: func(context.Context, time.Time, *limiter.Call, []limiter.Result) error { return limiter.ErrFull }}
	f := newFixture(t, map[string]Peer{"b": b}, "a", "b")
	call, results := take(subjectOf(t, f.view, "b"), perHour(1))
	if err := f.router.Do(t.Context(), call, results); !errors.Is(err, limiter.ErrFull) || errors.Is(err, ErrUnreachable) {
		t.Errorf("error %v", err)
	}
}

// A forwarded call ends at the Owner: for a partition of somebody else it is
// refused, and nothing is charged.
func TestOwnerNeverForwards(t *testing.T) {
	t.Parallel()
	b := &fakePeer{}
	f := newFixture(t, map[string]Peer{"b": b}, "a", "b")
	call, results := take(subjectOf(t, f.view, "b"), perHour(1))
	if _, err := f.owner.Do(call, results); !errors.Is(err, ErrNotOwner) || b.n != 0 {
		t.Errorf("error %v, b asked %d times", err, b.n)
	}
}

func TestForwardIsGivenTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got time.Duration
		b := &fakePeer{do: func(_ context.Context, deadline time.Time, _ *limiter.Call, _ []limiter.Result) error {
			got = time.Until(deadline)
			return nil
		}}
		f := newFixture(t, map[string]Peer{"b": b}, "a", "b")
		call, results := take(subjectOf(t, f.view, "b"), perHour(1))
		if err := f.router.Do(t.Context(), call, results); err != nil || got != 50*time.Millisecond {
			t.Errorf("error %v, time left %v", err, got)
		}
	})
}
