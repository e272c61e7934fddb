package murmurate

import (
	"fmt"
	"testing"
	"time"
)

func TestSamplerCountsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	var s sampler[string]
	at := time.Unix(0, 0)
	for _, row := range []struct {
		after   time.Duration
		thing   string
		due     bool
		skipped int
	}{
		{0, "n1", true, 0},
		{time.Second, "n1", false, 0},
		{0, "n2", true, 0},
		{time.Second, "n1", false, 0},
		{logInterval, "n1", true, 2},
		{logInterval, "n1", true, 0},
	} {
		at = at.Add(row.after)
		if skipped, due := s.due(row.thing, at); due != row.due || skipped != row.skipped {
			t.Errorf("%s at %v: due %v after %d skipped, want %v after %d",
				row.thing, at.Unix(), due, skipped, row.due, row.skipped)
		}
	}
}

// Names that come and go must not pile up.
func TestSamplerForgetsWhatWasLongAgo(t *testing.T) {
	t.Parallel()
	var s sampler[string]
	at := time.Unix(0, 0)
	for i := range 1000 {
		at = at.Add(time.Minute)
		s.due(fmt.Sprint("n", i), at)
	}
	if most := int(logMemory/time.Minute) + 1; len(s.known) > most {
		t.Errorf("%d things are remembered, want at most %d", len(s.known), most)
	}
}
