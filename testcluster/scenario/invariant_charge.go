package scenario

import (
	"fmt"
	"math"
	"slices"

	"github.com/murmurate/murmurate/limiter"
)

// charged is a part of I4: a check is charged by at most one owner, at most
// once, and not if it was denied. So what a counter has used never exceeds
// what was asked of it by the calls that the owner admitted, and those whose
// answer did not come.
type charged struct {
	unconcerned
	run   *run
	calls map[counted][]*span // in the order of their beginning; those that may have been charged
	open  map[*call]*span
}

func (i *charged) begun(c *call) {
	if c.op != limiter.Take {
		return
	}
	if i.calls == nil {
		i.calls, i.open = make(map[counted][]*span), make(map[*call]*span)
	}
	s := &span{begun: c.begun.UnixNano(), ended: math.MaxInt64, cost: c.cost()}
	i.calls[c.counted()] = append(i.calls[c.counted()], s)
	i.open[c] = s
}

func (i *charged) decided(c *call) error {
	if s := i.open[c]; s != nil {
		delete(i.open, c)
		switch {
		case c.err != nil || c.void: // it may reach the owner yet, after a cut
		case c.decision.Allowed:
			s.ended = c.ended.UnixNano()
		default:
			s.cost = 0 // denied by the owner: not charged
		}
	}
	if byOwner := c.err == nil && !c.void; !byOwner || c.op == limiter.Reset {
		return nil
	}
	for j := range c.decision.Limits {
		l := &c.policy.Limits[j]
		if c.policy.Cooldown.For > 0 && !c.decision.Limits[j].Allowed {
			continue // nothing remains during a cool-down, whatever was used
		}
		used := l.Capacity() - c.decision.Limits[j].Remaining
		if most := i.possible(c, l); used > most {
			return fmt.Errorf("I4: %q, policy %s, limit %d: used %d, and calls for %d at most can have been charged", c.request.Key, c.policy.Name, j+1, used, most)
		}
	}
	return nil
}

// possible adds up what can have been charged to a counter and still count
// when c was decided.
func (i *charged) possible(c *call, l *limiter.Limit) int64 {
	horizon := int64(math.MinInt64) // a bucket's debt can be of any age
	begun := c.begun.UnixNano()
	period := int64(l.Period)
	switch l.Algorithm {
	case limiter.FixedWindow, limiter.Quota:
		horizon = begun - period // it was opened at most a period before
		if l.Align == limiter.AlignEpoch {
			horizon = begun - begun%period
		}
	case limiter.SlidingWindow:
		horizon = begun - begun%period - period
	case limiter.SlidingLog:
		horizon = begun - period
	default:
	}
	id := c.counted()
	if len(i.calls[id]) == 0 {
		return 0 // looked at, and never taken from
	}
	i.calls[id] = slices.DeleteFunc(i.calls[id], func(s *span) bool { return s.cost == 0 })
	sum := int64(0)
	for _, s := range i.calls[id] {
		if s.ended >= horizon {
			sum += s.cost
		}
	}
	return sum
}
