package transport

import (
	"sync"
	"time"
)

// How a process notices that it was stopped (by a signal, a debugger, a
// frozen container, a starved machine): a beat that comes late.
const (
	beatEvery = 20 * time.Millisecond
	// lateBeat is the time between two beats that means a stop.
	lateBeat = 50 * time.Millisecond
	// aftermath is how long after a stop bytes may still be read that had
	// come during it.
	aftermath = 10 * time.Millisecond
)

// stallWatch knows when this process last stood still. A reader that waits
// for bytes cannot tell by itself: when it goes on, they seem to have come
// just now. It beats while there is anybody to read from.
type stallWatch struct {
	clock   clock
	beating sync.WaitGroup

	mu      sync.Mutex
	readers int
	stop    chan struct{} // ends the beat
	beat    time.Duration // the last one
	// from and to are the beats around the last stop.
	from, to time.Duration
}

func newStallWatch(c clock) *stallWatch { return &stallWatch{clock: c, to: -aftermath} }

// enter counts a reader in.
func (w *stallWatch) enter() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readers++; w.readers == 1 {
		w.beat, w.stop = w.clock.now(), make(chan struct{})
		stop := w.stop
		w.beating.Go(func() { w.run(stop) })
	}
}

// leave counts a reader out.
func (w *stallWatch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readers--; w.readers == 0 {
		close(w.stop)
	}
}

func (w *stallWatch) run(stop <-chan struct{}) {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.mark(w.clock.now())
		case <-stop:
			return
		}
	}
}

// mark is one beat.
func (w *stallWatch) mark(now time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now-w.beat >= lateBeat {
		w.from, w.to = w.beat, now
	}
	w.beat = now
}

// earliest is when bytes that are read at now can have come at the earliest,
// as far as stops of this process are concerned.
func (w *stallWatch) earliest(now time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case now-w.beat >= lateBeat: // a stop that the next beat will find
		return w.beat
	case now-w.to < aftermath:
		return w.from
	}
	return now
}
