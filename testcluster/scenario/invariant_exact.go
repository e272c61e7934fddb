package scenario

import (
	"errors"
	"fmt"

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
	meters meters
}

func newExact(r *run) *exact {
	return &exact{run: r, meters: meters{fresh: func(l *limiter.Limit) *meter { return &meter{limit: l, times: 1} }}}
}

func (i *exact) begun(c *call) { i.meters.begun(c) }

func (i *exact) decided(c *call) error {
	byOwner := c.err == nil && c.decision.Source == limiter.SourceOwner
	switch {
	case errors.Is(c.err, policy.ErrInput):
		return nil
	case !byOwner && c.healthy && !c.void:
		return fmt.Errorf("I1: all is well, and a check of %q through %s was decided by %v: %w", c.request.Key, c.via.name, c.decision.Source, c.err)
	case !byOwner && c.op == limiter.Take:
		return nil
	}
	if err := i.meters.take(c, i.run.health.era); err != nil {
		return fmt.Errorf("I1: the owner of %q, policy %s, admitted %w", c.request.Key, c.policy.Name, err)
	}
	return nil
}
