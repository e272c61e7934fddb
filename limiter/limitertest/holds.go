package limitertest

import (
	"maps"

	"github.com/murmurate/murmurate/limiter"
)

// oracleHolds are the holds of an Oracle. They never touch a counter: one
// that is confirmed is a charge at that instant, and one that is cancelled or
// lapses has left nothing behind.
type oracleHolds struct {
	open  map[limiter.HoldID]oracleHold
	ended map[limiter.HoldID]bool // confirmed or cancelled
}

type oracleHold struct {
	lapses int64 // Instant.Mono
	units  map[counterID]int64
}

func (h *oracleHolds) lapse(now limiter.Instant) {
	maps.DeleteFunc(h.open, func(_ limiter.HoldID, hold oracleHold) bool { return hold.lapses <= now.Mono })
}

func (h *oracleHolds) add(now limiter.Instant, call *limiter.Call) {
	units := make(map[counterID]int64)
	for i := range call.Charges {
		units[idOf(call, &call.Charges[i])] = call.Charges[i].Cost
	}
	h.open[call.Hold] = oracleHold{now.Mono + int64(call.Lapse), units}
}

func (h *oracleHolds) end(id limiter.HoldID) {
	delete(h.open, id)
	h.ended[id] = true
}

// units is what all holds reserve in one counter.
func (h *oracleHolds) units(id counterID) int64 {
	sum := int64(0)
	for _, hold := range h.open {
		sum += hold.units[id]
	}
	return sum
}
