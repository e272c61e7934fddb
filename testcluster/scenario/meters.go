package scenario

import (
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// meters are those of all counters within one era.
type meters struct {
	era  int
	byID map[counted][]*meter
	// from holds when a counter was last reset. What began by then may have
	// been charged before.
	from map[counted]time.Time
	// fresh makes the meter of a limit.
	fresh func(*limiter.Limit) *meter
}

// farOff is longer than any scenario.
const farOff = 10_000 * time.Hour

// begun notes a reset under way: until it ends, a call is charged before it
// or after it.
func (m *meters) begun(c *call) {
	if c.op == limiter.Reset && m.from != nil {
		m.from[c.counted()] = c.begun.Add(farOff)
	}
}

// take meters an admitted call in the given era, and notes a reset. The error
// is that of the first limit that admitted too much.
func (m *meters) take(c *call, era int) error {
	if m.byID == nil || m.era != era {
		m.era, m.byID, m.from = era, make(map[counted][]*meter), make(map[counted]time.Time)
	}
	id := c.counted()
	switch {
	case c.op == limiter.Reset:
		m.from[id] = c.ended
		if c.err != nil || c.void { // it may happen yet
			m.from[id] = c.ended.Add(farOff)
		}
		delete(m.byID, id)
		return nil
	case c.op != limiter.Take || c.era == 0 || c.void || !c.decision.Allowed || !c.begun.After(m.from[id]):
		return nil
	}
	if m.byID[id] == nil {
		for i := range c.policy.Limits {
			m.byID[id] = append(m.byID[id], m.fresh(&c.policy.Limits[i]))
		}
	}
	for _, one := range m.byID[id] {
		if err := one.add(c.begun, c.ended, c.cost()); err != nil {
			return err
		}
	}
	return nil
}
