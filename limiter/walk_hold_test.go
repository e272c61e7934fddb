package limiter_test

import (
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// maxWalkHolds bounds the holds of one walk: each reserves room in a table
// that is small so that it has one shard.
const maxWalkHolds = 3

// walkHold is a hold that was admitted at some time in a walk.
type walkHold struct {
	call  limiter.Call
	ended bool
	at    int64 // when it ended, of Instant.Mono
}

// hold makes a hold of a take.
func (w *walk) hold(call *limiter.Call) string {
	call.Op, call.Hold = limiter.Hold, limiter.HoldID{Lo: uint64(w.tried + 1)}
	w.tried++
	call.Lapse = pick(w, time.Millisecond, time.Second, limiter.MaxLapse, 1, min(max(w.last.RetryAfter, 1), limiter.MaxLapse))
	wrong := w.compare(call)
	if w.admitted {
		w.holds = append(w.holds, walkHold{call: *call})
	}
	return wrong
}

// endHold is a call that confirms or cancels one of the walk's holds, whatever
// has become of it by now, but for what the table need not remember.
func (w *walk) endHold() (limiter.Call, bool) {
	if len(w.holds) == 0 {
		return limiter.Call{}, false
	}
	h := &w.holds[w.choose(int64(len(w.holds)))]
	if h.ended && w.clock-h.at > int64(2*time.Second) {
		return limiter.Call{}, false
	}
	ended := h.ended
	if !ended {
		h.ended, h.at = true, w.clock
	}
	call := h.call
	call.Op, call.Lapse = pick(w, limiter.Confirm, limiter.Cancel), 0
	if !ended && call.Op == limiter.Confirm {
		w.keep(&call)
	}
	return call, true
}
