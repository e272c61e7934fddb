package httpapi

import (
	"fmt"
	"testing"
	"time"
)

func TestHolds(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	var h holds
	steps := []struct {
		why      string
		key      string
		now, set int // seconds; set 0: only look
		want     int // how long key is held then
	}{
		{"nothing yet", "a", 0, 0, 0},
		{"held", "a", 0, 10, 10},
		{"only that key", "b", 0, 0, 0},
		{"a shorter time does not shorten it", "a", 2, 3, 8},
		{"a longer one lengthens it", "a", 2, 20, 20},
		{"until it ends", "a", 21, 0, 1},
		{"and no longer", "a", 22, 0, 0},
		{"a clock that steps back", "a", 21, 0, 0},
		{"again", "a", 30, 5, 5},
	}
	for _, step := range steps {
		h.set(step.key, at(step.now), time.Duration(step.set)*time.Second)
		if got := h.pause(step.key, at(step.now)); got != time.Duration(step.want)*time.Second {
			t.Errorf("%s: got %v, want %d s", step.why, got, step.want)
		}
	}
}

func TestHoldsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	var h holds
	for i := range 3 * maxHolds {
		h.set(fmt.Sprint(i), now, time.Minute+time.Duration(i))
	}
	if len(h.until) != maxHolds {
		t.Errorf("%d are held, want %d", len(h.until), maxHolds)
	}
	if h.pause(fmt.Sprint(3*maxHolds-1), now) <= 0 || h.pause("0", now) > 0 {
		t.Error("those that end first are to make room")
	}
	later := now.Add(2 * time.Hour)
	h.set("later", later, time.Second)
	if len(h.until) != 1 {
		t.Errorf("%d are held after all but one have ended", len(h.until))
	}
}
