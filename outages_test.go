package murmurate

import (
	"fmt"
	"testing"
	"time"
)

func TestOutagesAreLoggedSparingly(t *testing.T) {
	t.Parallel()
	var o outages
	at := time.Unix(0, 0)
	for _, row := range []struct {
		after   time.Duration
		owner   string
		due     bool
		skipped int
	}{
		{0, "n1", true, 0},
		{time.Second, "n1", false, 0},
		{0, "n2", true, 0},
		{time.Second, "n1", false, 0},
		{outageInterval, "n1", true, 2},
		{outageInterval, "n1", true, 0},
	} {
		at = at.Add(row.after)
		if skipped, due := o.due(row.owner, at); due != row.due || skipped != row.skipped {
			t.Errorf("%s at %v: due %v after %d skipped, want %v after %d",
				row.owner, at.Unix(), due, skipped, row.due, row.skipped)
		}
	}
}

// Names that come and go must not pile up.
func TestOutagesOfLongAgoAreForgotten(t *testing.T) {
	t.Parallel()
	var o outages
	at := time.Unix(0, 0)
	for i := range 1000 {
		at = at.Add(time.Minute)
		o.due(fmt.Sprint("n", i), at)
	}
	if most := int(outageMemory/time.Minute) + 1; len(o.known) > most {
		t.Errorf("%d outages are remembered, want at most %d", len(o.known), most)
	}
}
