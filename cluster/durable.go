package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Journal keeps what the durable counters of an [Owner] have counted, so that
// it outlives the process. It is safe for concurrent use.
type Journal interface {
	// Keep sees to it that at least w.Used of the counter is on disk. Nil: it
	// is there already. Otherwise kept waits until it is, at most that long.
	// count is the limit's, which says how much may be reserved ahead.
	Keep(id limiter.CounterID, w limiter.Window, count int64) (kept Kept)
	// Lower makes less of the counter, for one that was reset: what is on disk
	// becomes what read returns. No Keep comes in between.
	Lower(id limiter.CounterID, read func() limiter.Window, count int64) (kept Kept)
	// LowerSoon does so by and by, for one that something was given back of.
	// Nobody waits for it.
	LowerSoon(id limiter.CounterID, read func() limiter.Window, count int64)
}

// Kept waits until something is on disk. Its error says why it is not.
type Kept = func(within time.Duration) error

// ErrNotKept means that a durable counter could not be put on disk: in time,
// at all, or because its owner has no place for one. The call may have been
// charged.
var ErrNotKept = errors.New("the owner could not keep the durable counter on disk")

// errNoJournal is the ErrNotKept of an owner that never keeps anything.
var errNoJournal = fmt.Errorf("%w: it has no data directory", ErrNotKept)

// keep has the journal keep what call has charged. Nil: there is nothing to
// wait for.
func (o *Owner) keep(call *limiter.Call, results []limiter.Result) Kept {
	var all []Kept
	for i := range call.Charges {
		c := &call.Charges[i]
		if !c.Limit.Durable {
			continue
		}
		if kept := o.keepOne(call, c, &results[i]); kept != nil {
			all = append(all, kept)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return func(within time.Duration) error {
		end := time.Now().Add(within)
		for _, kept := range all {
			if err := kept(time.Until(end)); err != nil {
				return fmt.Errorf("%w: %w", ErrNotKept, err)
			}
		}
		return nil
	}
}

// keepOne has the journal keep one counter. Nobody waits until it has what a
// settlement has given back: at worst a crash takes that for spent.
func (o *Owner) keepOne(call *limiter.Call, c *limiter.Charge, r *limiter.Result) Kept {
	id := c.ID(call.Subject)
	read := func() limiter.Window { return o.table.Window(id) }
	switch call.Op {
	case limiter.Take, limiter.Confirm, limiter.Acquire, limiter.Occupy:
		if !r.Allowed || c.Cost == 0 {
			return nil
		}
	case limiter.Settle:
		if c.Cost < call.Charged {
			o.journal.LowerSoon(id, read, c.Limit.Count)
		}
		if c.Cost <= call.Charged {
			return nil
		}
	case limiter.Reset:
		return o.journal.Lower(id, read, c.Limit.Count)
	default:
		return nil
	}
	return o.journal.Keep(id, read(), c.Limit.Count)
}

// durable reports whether a limit of call is.
func durable(call *limiter.Call) bool {
	for i := range call.Charges {
		if call.Charges[i].Limit.Durable {
			return true
		}
	}
	return false
}
