package scenario

import (
	"errors"
	"fmt"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// exact is I1: in a healthy cluster every check is decided by the owner of
// its key, and for every key and every interval what the owner admits is
// within the limit. The second half holds for a whole era: cuts and crashes
// of others do not touch an owner's counters.
type exact struct {
	unconcerned
	run    *run
	era    int
	meters map[counted][]*meter
	// resets holds when a counter was last made as new. What began before is
	// not metered.
	resets map[counted]time.Time
}

func (i *exact) decided(c *call) error {
	if c.void || errors.Is(c.err, policy.ErrInput) {
		return nil
	}
	if c.healthy && (c.err != nil || c.decision.Source != limiter.SourceOwner) {
		return fmt.Errorf("I1: all is well, and a check of %q through %s was decided by %v: %w", c.request.Key, c.via.name, c.decision.Source, c.err)
	}
	if i.era != i.run.health.era {
		i.era, i.meters, i.resets = i.run.health.era, make(map[counted][]*meter), make(map[counted]time.Time)
	}
	id := c.counted()
	if c.op == limiter.Reset && i.resets != nil {
		i.resets[id] = c.ended
		delete(i.meters, id)
	}
	if c.op != limiter.Take || c.era == 0 || !c.decision.Allowed || c.decision.Source != limiter.SourceOwner || c.begun.Before(i.resets[id]) {
		return nil
	}
	for j, m := range i.of(c) {
		if err := m.add(c.begun, c.ended, c.cost()); err != nil {
			return fmt.Errorf("I1: the owner of %q, policy %s, limit %d, admitted %w", c.request.Key, c.policy.Name, j+1, err)
		}
	}
	return nil
}

// of are the meters of the call's limits.
func (i *exact) of(c *call) []*meter {
	id := c.counted()
	if i.meters[id] == nil {
		for j := range c.policy.Limits {
			i.meters[id] = append(i.meters[id], &meter{limit: &c.policy.Limits[j], times: 1})
		}
	}
	return i.meters[id]
}
