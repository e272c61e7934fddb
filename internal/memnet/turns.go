package memnet

import "time"

// turns lets one goroutine at a time read, or write, and lets it sleep until
// somebody wakes it. Those that wait for their turn look at what woke it when
// they get it. Waiting is durable in the sense of testing/synctest.
type turns struct {
	turn  chan struct{} // holds a token while it is somebody's turn
	woken chan struct{} // holds a token when there is something to look at
	timer *time.Timer   // of whose turn it is; nil: not needed yet
}

func newTurns() turns {
	return turns{turn: make(chan struct{}, 1), woken: make(chan struct{}, 1)}
}

func (t *turns) enter() { t.turn <- struct{}{} }

func (t *turns) leave() { <-t.turn }

// wake makes whose turn it is look again.
func (t *turns) wake() {
	select {
	case t.woken <- struct{}{}:
	default:
	}
}

// sleep waits until woken, or until an instant unless that is zero.
func (t *turns) sleep(until time.Time) {
	if until.IsZero() {
		<-t.woken
		return
	}
	if t.timer == nil {
		t.timer = time.NewTimer(time.Until(until))
	} else {
		t.timer.Reset(time.Until(until))
	}
	select {
	case <-t.woken:
	case <-t.timer.C:
	}
	t.timer.Stop()
}
