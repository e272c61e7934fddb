package transport

import (
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// progress is how far a call has come. The session's lock guards it.
//
//	queued -> sent -> done        an answer, or the end of the session
//	queued -> done                the session ended, or too late to send
//	queued -> (the caller's)      withdrawn at its deadline, never sent
//	sent   -> abandoned           the caller left; the session keeps it
type progress uint8

const (
	queued progress = iota
	sent
	done
	abandoned
)

// pending is one call on its way. Whoever brings it to its end puts it back
// into the pool: the caller, or the session if the caller left before.
type pending struct {
	next, prev *pending // in the session's queue
	progress   progress
	call       []byte        // encoded; the caller's own memory is never touched after it left
	deadline   time.Duration // on the client's clock
	sentAt     time.Duration
	charges    int
	protocol   uint8 // the first that knows such a call
	results    []limiter.Result
	err        error
	finished   chan struct{} // holds one token once progress is done
	timer      *time.Timer
}

func newPending() *pending {
	p := &pending{finished: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	p.timer.Stop()
	return p
}

// finish hands the call back to its caller.
func (p *pending) finish(err error) {
	p.progress, p.err = done, err
	p.finished <- struct{}{}
}

// callQueue is a list of pending calls in order of arrival, from which any
// can be withdrawn. The zero value is empty.
type callQueue struct {
	first, last *pending
	n           int
}

func (q *callQueue) push(p *pending) {
	p.next, p.prev = nil, q.last
	if q.last == nil {
		q.first = p
	} else {
		q.last.next = p
	}
	q.last = p
	q.n++
}

func (q *callQueue) remove(p *pending) {
	if p.prev == nil {
		q.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		q.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	p.next, p.prev = nil, nil
	q.n--
}

// slotTable numbers the calls that were sent and not answered yet. A number
// is free again only when its answer came, so an answer cannot meet another
// call than its own.
type slotTable struct {
	calls []*pending
	free  []uint32
	used  int
}

func (t *slotTable) put(p *pending) uint32 {
	t.used++
	if n := len(t.free); n > 0 {
		slot := t.free[n-1]
		t.free = t.free[:n-1]
		t.calls[slot] = p
		return slot
	}
	t.calls = append(t.calls, p)
	return uint32(len(t.calls) - 1)
}

// take frees a slot and returns its call, or nil if there is none.
func (t *slotTable) take(slot uint64) *pending {
	if slot >= uint64(len(t.calls)) || t.calls[slot] == nil {
		return nil
	}
	p := t.calls[slot]
	t.calls[slot] = nil
	t.free = append(t.free, uint32(slot))
	t.used--
	return p
}
