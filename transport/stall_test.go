package transport

import (
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestStallWatch(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		beats []time.Duration
		now   time.Duration
		want  time.Duration
	}{
		{"all is well", []time.Duration{20 * ms, 40 * ms}, 50 * ms, 50 * ms},
		{"a beat is a little late", []time.Duration{20 * ms, 60 * ms}, 61 * ms, 61 * ms},
		{"stopped, and the reader goes on first", []time.Duration{20 * ms}, 5000 * ms, 20 * ms},
		{"stopped, and the beat goes on first", []time.Duration{20 * ms, 5000 * ms}, 5001 * ms, 20 * ms},
		{"stopped a while ago", []time.Duration{20 * ms, 5000 * ms}, 5010 * ms, 5010 * ms},
		{"stopped twice", []time.Duration{20 * ms, 5000 * ms, 5020 * ms, 6000 * ms}, 6001 * ms, 5020 * ms},
	} {
		w := &stallWatch{to: -aftermath}
		for _, beat := range row.beats {
			w.mark(beat)
		}
		if got := w.earliest(row.now); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

func TestBytesThatCameDuringAStopAreOld(t *testing.T) {
	t.Parallel()
	c := newClock()
	c.start = c.start.Add(-time.Hour) // an hour has passed, without a beat
	for name, want := range map[string]struct {
		stalls *stallWatch
		old    bool
	}{
		"without a watch": {nil, false},
		"no beat since":   {&stallWatch{clock: c, beat: 5 * ms, to: -aftermath}, true},
		"a beat just now": {&stallWatch{clock: c, beat: c.now(), to: -aftermath}, false},
	} {
		r := stampedReader{from: strings.NewReader("late"), clock: c, stalls: want.stalls, last: c.now()}
		if _, err := r.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if old := r.at < 10*ms; old != want.old {
			t.Errorf("%s: came at %v", name, r.at)
		}
	}
}
