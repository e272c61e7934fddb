package cluster

import (
	"sync/atomic"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

const (
	// slewRate is how much faster or slower than real time the clock of
	// windows may run: 1/slewRate.
	slewRate = 1000
	// slewEvery is how often the wall clock is looked at.
	slewEvery = int64(time.Second)
)

// Clock is the time of the node that decides. One monotonic reading gives
// both halves of an Instant: Mono never steps, and Wall follows the wall
// clock by running at most 1/1000 fast or slow, so that a step of the wall
// clock neither closes nor reopens a window.
type Clock struct {
	start time.Time
	wall  func() int64 // Unix ns, may step
	slew  atomic.Pointer[slew]
}

// slew is the way of the wall clock since one look at it: Wall runs ahead of
// Mono by from at Mono time at, and from there towards target.
type slew struct{ at, from, target int64 }

// NewClock starts at the wall clock's time.
func NewClock() *Clock {
	return newClock(func() int64 { return time.Now().UnixNano() })
}

func newClock(wall func() int64) *Clock {
	c := &Clock{start: time.Now(), wall: wall}
	c.slew.Store(&slew{at: c.start.UnixNano()})
	return c
}

// Now reads the clock.
func (c *Clock) Now() limiter.Instant {
	mono := c.start.UnixNano() + int64(time.Since(c.start))
	s := c.slew.Load()
	ahead := s.ahead(mono)
	if mono-s.at >= slewEvery {
		// Whoever loses this race has read an older, equally valid way.
		c.slew.CompareAndSwap(s, &slew{at: mono, from: ahead, target: c.wall() - mono})
	}
	return limiter.Instant{Mono: mono, Wall: mono + ahead}
}

// ahead is how far Wall is ahead of Mono at Mono time mono. It changes by at
// most 1/slewRate of the time that passes, so Wall never runs back.
func (s *slew) ahead(mono int64) int64 {
	most := max(mono-s.at, 0) / slewRate
	return s.from + min(max(s.target-s.from, -most), most)
}
