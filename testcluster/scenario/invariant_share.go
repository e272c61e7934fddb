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
	meters meters
}

func newShares(r *run) *shares {
	i := &shares{run: r}
	i.meters.fresh = func(l *limiter.Limit) *meter {
		m := &meter{limit: l, times: 2}
		if l.Algorithm == limiter.LeakyBucket {
			m.extra = int64(len(r.names))
		}
		return m
	}
	return i
}

func (i *shares) begun(c *call) { i.meters.begun(c) }

func (i *shares) decided(c *call) error {
	source := c.decision.Source
	if c.op == limiter.Take && (source > limiter.SourceShare || source == limiter.SourceShare && !c.via.owner()) {
		return nil
	}
	if err := i.meters.take(c, i.run.health.era); err != nil {
		return fmt.Errorf("shares: the owner of %q, policy %s, and the others admitted %w", c.request.Key, c.policy.Name, err)
	}
	return nil
}
