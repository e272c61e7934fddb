package murmurate

import (
	"context"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// leaseState is where a lease is in its life, which only goes forward.
type leaseState uint8

const (
	leaseHeld    leaseState = iota // somebody has it, and it is renewed
	leaseLeaving                   // it is being released, until its owners have heard
	leaseOver
)

// lease is a holding that this node takes care of. It implements policy.Lease.
type lease struct {
	keeper  *leaseKeeper
	holding *holding // of one goroutine: who acquires, then who renews, then who releases
	done    chan struct{}

	// Guarded by the keeper's mu.
	state  leaseState
	err    error     // once done is closed
	due    time.Time // when it is to be renewed, or released again
	lapses time.Time // when its slots come back by themselves, or a moment later
	place  int       // in the keeper's heap; outside: not in it
}

// outside is the place of a lease that is not in the heap.
const outside = -1

// Release implements policy.Lease.
func (l *lease) Release(ctx context.Context) error {
	if !l.keeper.end(l, policy.ErrReleased) {
		return nil
	}
	return l.keeper.leave(context.WithoutCancel(ctx), l)
}

// Done implements policy.Lease.
func (l *lease) Done() <-chan struct{} { return l.done }

// Err implements policy.Lease.
func (l *lease) Err() error {
	l.keeper.mu.Lock()
	defer l.keeper.mu.Unlock()
	return l.err
}

// Token implements policy.Lease.
func (l *lease) Token() string { return l.keeper.node.tokenOf(l.holding) }

// leaseHeap orders leases by when they are due, the earliest first
// (container/heap).
type leaseHeap []*lease

func (h leaseHeap) Len() int           { return len(h) }
func (h leaseHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }

func (h leaseHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *leaseHeap) Push(x any) {
	l := x.(*lease)
	l.place = len(*h)
	*h = append(*h, l)
}

func (h *leaseHeap) Pop() any {
	old := *h
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*h, l.place = old[:len(old)-1], outside
	return l
}
