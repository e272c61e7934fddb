package murmurate

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/murmurate/murmurate/policy"
)

const (
	// renewals is how often a lease is renewed in the time of its TTL, if all
	// goes well: two may fail.
	renewals = 3
	// retries is into how many parts a TTL is divided by the attempts after one
	// that failed, each at most maxLeaseRetry from the next.
	retries       = 20
	maxLeaseRetry = time.Second
	// maxLeaving bounds the releases that are tried again. Beyond, the slots
	// come back by their TTL.
	maxLeaving = 4096
	// maxDue bounds how many leases are seen to at once.
	maxDue = 1024
)

// leaseKeeper renews the leases of one node, and releases again what could not
// be released. All leases share one goroutine, and for a moment those that ask.
type leaseKeeper struct {
	node *Node
	wake chan struct{} // holds a token when there is something earlier to do
	stop chan struct{}
	done chan struct{}

	mu      sync.Mutex
	due     leaseHeap
	leaving int // leases of that state in due
	closed  bool
}

// keepLeases begins, until the node closes.
func (n *Node) keepLeases() {
	k := &leaseKeeper{node: n, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	n.leases = k
	go k.run()
	n.onClose("leases", k.close)
}

func (k *leaseKeeper) run() {
	defer close(k.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		due, next := k.takeDue(time.Now())
		if len(due) > 0 {
			inParallel(len(due), func(i int) { k.see(due[i]) })
			continue
		}
		timer.Reset(next)
		select {
		case <-k.stop:
			return
		case <-k.wake:
		case <-timer.C:
		}
	}
}

// takeDue takes the leases out that are due, and if there are none says when
// the next is.
func (k *leaseKeeper) takeDue(now time.Time) (due []*lease, next time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.due) > 0 && len(due) < maxDue && !k.closed {
		if wait := k.due[0].due.Sub(now); wait > 0 {
			return due, wait
		}
		l := heap.Pop(&k.due).(*lease)
		if l.state == leaseLeaving {
			k.leaving--
		}
		due = append(due, l)
	}
	return due, restInterval
}

// put puts l back, to be seen to at the given time. The caller holds mu.
func (k *leaseKeeper) put(l *lease, due time.Time) {
	if l.due = due; l.state == leaseLeaving {
		k.leaving++
	}
	heap.Push(&k.due, l)
	if l.place == 0 {
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
}

// keep takes care of h from now on.
func (k *leaseKeeper) keep(h *holding) *lease {
	l := &lease{keeper: k, holding: h, done: make(chan struct{}), lapses: h.lapses(), place: outside}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		l.over(ErrClosed)
		return l
	}
	k.put(l, h.renewed.Add(h.ttl/renewals))
	return l
}

// giveBack releases h in the background.
func (k *leaseKeeper) giveBack(h *holding) {
	l := &lease{keeper: k, holding: h, done: make(chan struct{}), state: leaseLeaving, lapses: h.lapses(), place: outside}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed && k.leaving < maxLeaving {
		k.put(l, time.Now())
	}
}

// see renews or releases a lease that is due.
func (k *leaseKeeper) see(l *lease) {
	k.mu.Lock()
	state, lapses := l.state, l.lapses
	k.mu.Unlock()
	switch state {
	case leaseHeld:
		k.renew(l, lapses)
	case leaseLeaving:
		_ = k.leave(context.Background(), l) // which says when to try again
	case leaseOver:
	}
}

// renew renews l, and ends it if it has lapsed or may have.
func (k *leaseKeeper) renew(l *lease, lapses time.Time) {
	err := policy.ErrLapsed
	if time.Now().Before(lapses) {
		ctx, cancel := context.WithDeadline(context.Background(), lapses)
		defer cancel()
		_, err = k.node.renew(ctx, l.holding)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	switch {
	case l.state != leaseHeld: // it was released meanwhile
	case k.closed:
		l.over(ErrClosed)
	case errors.Is(err, policy.ErrLapsed):
		l.over(err)
	case err == nil && l.holding.lapses().After(now):
		l.lapses = l.holding.lapses()
		k.put(l, l.holding.renewed.Add(l.holding.ttl/renewals))
	case now.Before(lapses):
		k.put(l, earlier(now.Add(l.holding.retry()), lapses))
	case err == nil: // too late: the answer took longer than the TTL
		l.over(policy.ErrLapsed)
	default:
		l.over(fmt.Errorf("%w (it could not be renewed: %w)", policy.ErrLapsed, err))
	}
}

// end ends a lease that is held, for its holder, and reports whether it was.
func (k *leaseKeeper) end(l *lease, why error) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.state != leaseHeld {
		return false
	}
	if l.place != outside {
		heap.Remove(&k.due, l.place)
	}
	l.over(why)
	return true
}

// over ends l for its holder. The caller holds mu.
func (l *lease) over(why error) {
	l.state, l.err = leaseOver, why
	close(l.done)
}

// leave releases the slots of l, and if that fails puts it back to be tried
// again until they come back by themselves.
func (k *leaseKeeper) leave(ctx context.Context, l *lease) error {
	err := k.node.release(ctx, l.holding)
	if err == nil || errors.Is(err, errElsewhere) {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	again := time.Now().Add(l.holding.retry())
	if !k.closed && k.leaving < maxLeaving && again.Before(l.lapses) {
		l.state = leaseLeaving
		k.put(l, again)
	}
	return err
}

// close ends every lease. What is to be released is tried once more; what is
// held is not, because its holder may still be at it: it comes back by its TTL.
func (k *leaseKeeper) close(ctx context.Context) error {
	k.mu.Lock()
	k.closed = true
	all := k.due
	k.due = nil
	for _, l := range all {
		if l.place = outside; l.state == leaseHeld {
			l.over(ErrClosed)
		}
	}
	k.mu.Unlock()
	close(k.stop)
	<-k.done
	inParallel(len(all), func(i int) {
		if l := all[i]; l.state == leaseLeaving && ctx.Err() == nil {
			_ = k.node.release(ctx, l.holding) // or the TTL does it
		}
	})
	return nil
}

// lapses is when the slots of h come back by themselves at the earliest.
func (h *holding) lapses() time.Time { return h.renewed.Add(h.ttl) }

// retry is the pause after an attempt that failed.
func (h *holding) retry() time.Duration {
	return min(max(h.ttl/retries, time.Millisecond), maxLeaseRetry)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
