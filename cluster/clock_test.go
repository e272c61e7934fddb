package cluster

import (
	"testing"
	"testing/synctest"
	"time"
)

// stepped is a wall clock that can be stepped.
type stepped struct{ by time.Duration }

func (s *stepped) now() int64 { return time.Now().Add(s.by).UnixNano() }

func TestWallFollowsWithoutStepping(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]time.Duration{
		"an hour ahead": time.Hour, "an hour back": -time.Hour,
		"a little ahead": 5 * time.Millisecond, "a little back": -5 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wall := &stepped{}
				c := newClock(wall.now)
				first := c.Now()
				wall.by = step
				last := first
				for range 100_000 {
					time.Sleep(300 * time.Millisecond)
					now := c.Now()
					passed, walled := now.Mono-last.Mono, now.Wall-last.Wall
					if passed != int64(300*time.Millisecond) {
						t.Fatalf("Mono advanced by %v in 300ms", time.Duration(passed))
					}
					if drift := walled - passed; drift > passed/slewRate || drift < -passed/slewRate {
						t.Fatalf("Wall drifted by %v in %v", time.Duration(drift), time.Duration(passed))
					}
					last = now
				}
				// 100,000 x 300ms can make up for 30 s.
				moved := time.Duration((last.Wall - last.Mono) - (first.Wall - first.Mono))
				want := max(min(step, 30*time.Second), -30*time.Second)
				if off := moved - want; off > time.Second || off < -time.Second {
					t.Errorf("Wall moved by %v, want %v", moved, want)
				}
			})
		})
	}
}

func TestClockStartsAtTheWallClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := NewClock().Now()
		if want := time.Now().UnixNano(); now.Wall != want || now.Mono != want {
			t.Errorf("got %+v, want %d", now, want)
		}
	})
}
