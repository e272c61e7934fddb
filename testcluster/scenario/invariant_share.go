package scenario

import (
	"fmt"

	"github.com/murmurate/murmurate/limiter"
)

// shares is a bound for cuts and crashes: within an era, the owner of a key
// and the shares that the owners spend of it together admit at most twice the
// limit. Each share of a leaky bucket serves one unit of its own beside that.
//
// The shares of clients are left out: a client that is cut off does not know
// how many others there are. So are the policies that admit without counting.
type shares struct {
	unconcerned
	run    *run
	era    int
	meters map[counted][]*meter
}

func (i *shares) decided(c *call) error {
	if i.era != i.run.health.era {
		i.era, i.meters = i.run.health.era, make(map[counted][]*meter)
	}
	source := c.decision.Source
	if c.op != limiter.Take || c.era == 0 || !c.decision.Allowed || source > limiter.SourceShare || source == limiter.SourceShare && !c.via.owner() {
		return nil
	}
	for _, m := range i.of(c) {
		if err := m.add(c.begun, c.ended, c.cost()); err != nil {
			return fmt.Errorf("shares: the owner of %q, policy %s, and the others admitted %w", c.request.Key, c.policy.Name, err)
		}
	}
	return nil
}

// of are the meters of the call's limits.
func (i *shares) of(c *call) []*meter {
	id := c.counted()
	if i.meters[id] == nil {
		for j := range c.policy.Limits {
			m := &meter{limit: &c.policy.Limits[j], times: 2}
			if m.limit.Algorithm == limiter.LeakyBucket {
				m.extra = int64(len(i.run.names))
			}
			i.meters[id] = append(i.meters[id], m)
		}
	}
	return i.meters[id]
}
