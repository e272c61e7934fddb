package transport

import (
	"testing"
	"time"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	// A step happens at a time; up is what the session is right after it.
	type step struct {
		at   time.Duration
		do   string // "", "sent", "answered", "answered, more to come"
		what time.Duration
		up   bool
	}
	tests := map[string]struct {
		onDemand, again bool
		steps           []step
	}{
		"the first connection counts at once": {steps: []step{{up: true}}},
		"the next after a second of being well": {again: true, steps: []step{
			{at: 0}, {250 * ms, "answered", 240 * ms, false}, {500 * ms, "answered", 490 * ms, false},
			{750 * ms, "answered", 740 * ms, false}, {999 * ms, "answered", 990 * ms, false}, {at: 1000 * ms, up: true},
		}},
		"without an answer it is down after 300 ms": {steps: []step{
			{50 * ms, "sent", 0, true}, {at: 299 * ms, up: true}, {at: 300 * ms},
		}},
		"an answer counts from when its question was sent": {steps: []step{
			{50 * ms, "sent", 0, true}, {200 * ms, "answered", 50 * ms, true}, {at: 349 * ms, up: true}, {at: 350 * ms},
		}},
		"up again after a second of being well": {steps: []step{
			{300 * ms, "answered", 290 * ms, false}, {550 * ms, "answered", 540 * ms, false},
			{800 * ms, "answered", 790 * ms, false}, {1050 * ms, "answered", 1040 * ms, false},
			{1299 * ms, "answered", 1290 * ms, false}, {at: 1300 * ms, up: true},
		}},
		"a gap while recovering begins the second anew": {steps: []step{
			{300 * ms, "answered", 290 * ms, false}, {700 * ms, "answered", 690 * ms, false},
			{at: 700*ms + 200*ms}, {950 * ms, "answered", 940 * ms, false}, {1200 * ms, "answered", 1190 * ms, false},
			{1450 * ms, "answered", 1440 * ms, false}, {1699 * ms, "answered", 1690 * ms, false}, {at: 1700 * ms, up: true},
		}},
		"a process that was stopped notices before it decides": {steps: []step{
			{50 * ms, "sent", 0, true}, {at: 10 * time.Second},
		}},
		"an answer from before the stop proves nothing": {steps: []step{
			{50 * ms, "sent", 0, true}, {10 * time.Second, "answered", 50 * ms, false},
			{10*time.Second + 10*ms, "answered", 10 * time.Second, false},
		}},
		"an old answer after a newer one": {steps: []step{
			{100 * ms, "answered", 90 * ms, true}, {110 * ms, "answered", 20 * ms, true}, {at: 389 * ms, up: true}, {at: 390 * ms},
		}},
		"on demand, idle counts as up": {onDemand: true, steps: []step{{at: time.Hour, up: true}}},
		"on demand, a question starts the watch": {onDemand: true, steps: []step{
			{time.Hour, "sent", 0, true}, {at: time.Hour + 299*ms, up: true}, {at: time.Hour + 300*ms},
		}},
		"on demand, a second question does not restart it": {onDemand: true, steps: []step{
			{time.Hour, "sent", 0, true}, {time.Hour + 200*ms, "sent", 0, true}, {at: time.Hour + 300*ms},
		}},
		"on demand, one answer of two": {onDemand: true, steps: []step{
			{time.Hour, "sent", 0, true}, {time.Hour + 100*ms, "sent", 0, true},
			{time.Hour + 110*ms, "answered, more to come", time.Hour + 100*ms, true},
			{at: time.Hour + 399*ms, up: true}, {at: time.Hour + 400*ms},
		}},
		"on demand, all answered": {onDemand: true, steps: []step{
			{time.Hour, "sent", 0, true}, {time.Hour + 10*ms, "answered", time.Hour, true}, {at: 2 * time.Hour, up: true},
		}},
		"on demand, a late answer begins the recovery": {onDemand: true, steps: []step{
			{time.Hour, "sent", 0, true}, {time.Hour + 400*ms, "answered", time.Hour, false},
			{at: time.Hour + 1399*ms}, {at: time.Hour + 1400*ms, up: true},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := health{onDemand: test.onDemand, silence: downAfter}
			h.connected(0, !test.again)
			for i, s := range test.steps {
				switch s.do {
				case "sent":
					h.sent(s.at)
				case "answered":
					h.answered(s.at, s.what, false)
				case "answered, more to come":
					h.answered(s.at, s.what, true)
				}
				if got := h.up(s.at); got != s.up {
					t.Fatalf("step %d, at %v: up %v, want %v", i, s.at, got, s.up)
				}
			}
		})
	}
}

func TestHeartbeatsOnDemand(t *testing.T) {
	t.Parallel()
	h := health{onDemand: true, silence: downAfter}
	h.connected(0, false)
	if !h.beating(stableFor - 1) {
		t.Error("no heartbeat while the session proves itself")
	}
	if h.beating(stableFor) {
		t.Error("heartbeat while idle")
	}
	h.sent(stableFor)
	if !h.beating(stableFor) {
		t.Error("no heartbeat while an answer is due")
	}
}
