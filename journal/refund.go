package journal

import "github.com/murmurate/murmurate/limiter"

// refund is a counter that something was given back of.
type refund struct {
	read  func() limiter.Window
	count int64 // the limit's
}

// LowerSoon makes a counter what read returns, by the next sweep or at the
// latest by Close. Nobody waits for that: a crash before takes what was given
// back for spent. read is called while no Keep of the counter comes in between.
func (c *Counters) LowerSoon(id limiter.CounterID, read func() limiter.Window, count int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.marks[id] != nil {
		c.refunds[id] = refund{read, count}
	}
}

// lowerRefunds has the next batch write what was given back, unless it has been
// charged again since.
func (c *Counters) lowerRefunds() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, r := range c.refunds {
		w, m := r.read(), c.marks[id]
		if m == nil || w.Used > 0 && w.End != m.end {
			continue // what was given back was of a window that is over
		}
		if to := markOver(w.Used, r.count); max(m.durable, m.writing.mark, m.pending.mark) > to {
			c.lower(id, m, to)
		}
	}
	clear(c.refunds)
}
