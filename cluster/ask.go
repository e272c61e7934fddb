package cluster

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Ask is one of several calls that are decided together.
type Ask struct {
	// Call is a Take, Peek, Reset, Acquire, Renew, Release or Settle. While DoAll
	// runs its Op, Hold and Lapse say what is asked for at the moment.
	Call *limiter.Call
	// Results receives the answer, one element for each charge.
	Results []limiter.Result
	// Shadow keeps the call out of the decision: it is taken by itself if the
	// others are admitted, and looked at if they are denied.
	Shadow bool
	// Err is why the owner did not decide, as [Router.Do] returns it. Results
	// are then what DoAll's instead made of it.
	Err error
	// Taken is set if the call of a Take or an Acquire has been charged, or may
	// have been, for all that is known.
	Taken bool

	place int // among the asks
}

// Admitted reports whether every limit of the call admits it.
func (a *Ask) Admitted() bool {
	return !slices.ContainsFunc(a.Results, func(r limiter.Result) bool { return !r.Allowed })
}

// contended reports whether only the open holds of others denied the call.
func (a *Ask) contended() bool {
	return a.Err == nil && !a.Admitted() &&
		!slices.ContainsFunc(a.Results, func(r limiter.Result) bool { return !r.Allowed && !r.Contended })
}

// narrowestFirst orders calls by the smallest capacity among their limits,
// and then alike on all nodes, so that requests meet at the same call first.
func narrowestFirst(a, b *Ask) int {
	return cmp.Or(
		cmp.Compare(capacity(a.Call), capacity(b.Call)),
		cmp.Compare(a.Call.Subject.Hi, b.Call.Subject.Hi),
		cmp.Compare(a.Call.Subject.Lo, b.Call.Subject.Lo))
}

func capacity(call *limiter.Call) int64 {
	least := call.Charges[0].Limit.Capacity()
	for i := range call.Charges {
		least = min(least, call.Charges[i].Limit.Capacity())
	}
	return least
}

// byDecider parts asks that were decided by their owners from those that the
// failure mode decided.
func byDecider(asks []*Ask) (owners, modes []*Ask) {
	for _, a := range asks {
		if a.Err == nil {
			owners = append(owners, a)
		} else {
			modes = append(modes, a)
		}
	}
	return owners, modes
}

// delays is what the asks were told to wait.
func delays(asks []*Ask) [][]time.Duration {
	told := make([][]time.Duration, len(asks))
	for i, a := range asks {
		for j := range a.Results {
			told[i] = append(told[i], a.Results[j].Delay)
		}
	}
	return told
}

func newHoldID() limiter.HoldID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return limiter.HoldID{Hi: binary.LittleEndian.Uint64(b[:8]), Lo: binary.LittleEndian.Uint64(b[8:])}
}
