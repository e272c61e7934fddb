package cluster

import (
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// shareRetry is the longest that a denial by a share tells to wait. The owner, or
// another in its place, may be back long before a share has room again.
const shareRetry = time.Minute

// Share decides calls from this node's own part of each limit while the
// owner is out of reach: 1/n of count and burst, rounded down, where n is
// the number of owners (for a client: of owners and clients). The owners'
// shares together do not exceed the limit, except that each share of a leaky
// bucket serves one unit at a time (see limiter.Limit.Share). The owner, if it
// lives on the other side of a cut, admits the limit once more.
type Share struct {
	table *limiter.Table
	clock *Clock
	view  func() *View
}

// NewShare spends from table, which must be another one than the Owner's.
func NewShare(table *limiter.Table, clock *Clock, view func() *View) *Share {
	return &Share{table: table, clock: clock, view: view}
}

// Do decides call from the local share and fills results. A share starts
// full, and of a concurrency limit free. One that can never admit the call denies
// until the window ends, but none for longer than a minute.
//
// ErrNoOwner: this node does not know yet how many share the limit, so it has
// no share. Otherwise the error is the table's. Nothing is charged then.
func (s *Share) Do(call *limiter.Call, results []limiter.Result) error {
	n := s.view().shares()
	if n == 0 {
		return ErrNoOwner
	}
	now := s.clock.Now()
	local, admits := shareCall(call, n)
	if err := s.table.Do(now, local, results); err != nil {
		return err
	}
	for i := range results {
		r, whole := &results[i], call.Charges[i].Limit
		if !admits[i] && local.Op == limiter.Peek {
			*r = limiter.Result{RetryAfter: limiter.Never, NextUnit: whole.WindowEnd(now)}
		}
		if !r.Allowed && r.RetryAfter == limiter.Never && call.Charges[i].Cost <= whole.Capacity() {
			// Too much for the share, not for the limit: worth another try.
			r.RetryAfter = whole.WindowEnd(now)
		}
		r.RetryAfter = min(r.RetryAfter, shareRetry)
		r.Source = limiter.SourceShare
		r.Limit = whole.Count
	}
	return nil
}

// shareCall is call with every limit reduced to 1/n, and whether each
// reduced limit can admit anything. If one cannot, the call is a peek: nothing
// may be charged. What a lease has of the share stays its own, though, and what
// was charged is settled, however many divide the limit by now.
func shareCall(call *limiter.Call, n int) (*limiter.Call, []bool) {
	local := new(limiter.Call)
	*local = *call
	local.Charges = make([]limiter.Charge, len(call.Charges))
	admits := make([]bool, len(call.Charges))
	limits := make([]limiter.Limit, len(call.Charges))
	for i, c := range call.Charges {
		limits[i], admits[i] = c.Limit.Share(n)
		local.Charges[i] = c
		local.Charges[i].Limit = &limits[i]
		if !admits[i] && call.Op != limiter.Renew && call.Op != limiter.Release && call.Op != limiter.Settle {
			local.Op = limiter.Peek
		}
	}
	return local, admits
}

// shares is the number of nodes that a limit is divided among, 0 for an
// owner that knows no owner, not even itself.
func (v *View) shares() int {
	owners := len(v.Ring.Members())
	if v.Role == RoleClient {
		return max(owners+v.Clients, 1)
	}
	return owners
}
