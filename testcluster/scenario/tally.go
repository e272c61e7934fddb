package scenario

import (
	"sync"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// tally counts what became of many calls.
type tally struct {
	mu               sync.Mutex
	sent             int
	admitted, denied int
	sources          map[limiter.Source]int
	errors           int // with which the failure mode decided
	slowest          time.Duration
}

func newTally() *tally { return &tally{sources: make(map[limiter.Source]int)} }

// add counts a call that was answered. One whose node was taken away
// meanwhile was not.
func (t *tally) add(c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.void {
		return
	}
	t.sent++
	if c.decision.Allowed {
		t.admitted++
	} else {
		t.denied++
	}
	if c.err != nil {
		t.errors++
	}
	t.sources[c.decision.Source]++
	t.slowest = max(t.slowest, c.ended.Sub(c.begun))
}

func (t *tally) answer() answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	var a answer
	a.add("sent", t.sent)
	a.add("admitted", t.admitted)
	a.add("denied", t.denied)
	for _, s := range limiter.Sources() {
		if n := t.sources[s]; n > 0 || s == limiter.SourceOwner || s == limiter.SourceShare {
			a.add(s.String(), n)
		}
	}
	a.add("errors", t.errors)
	a.add("slowest", t.slowest)
	return a
}
