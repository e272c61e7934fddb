package scenario

import (
	"errors"
	"fmt"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// answers is I10: every check returns within the deadline, with a decision
// that says what it is worth.
type answers struct {
	unconcerned
	run *run
}

func (i *answers) decided(c *call) error {
	if c.void || errors.Is(c.err, policy.ErrInput) {
		return nil
	}
	if took := c.ended.Sub(c.begun); took > i.run.cluster.Deadline {
		return fmt.Errorf("I10: a check of %q through %s took %v, longer than the deadline of %v", c.request.Key, c.via.name, took, i.run.cluster.Deadline)
	}
	err := sourceFits(c)
	for j := range c.decision.Limits {
		got, limit := &c.decision.Limits[j].Result, &c.policy.Limits[j]
		err = errors.Join(err, inRange(got, limit, c.cost()))
		if c.op == limiter.Reset && c.err == nil && got.Remaining != limit.Capacity() {
			err = errors.Join(err, fmt.Errorf("%d of %d remain after a reset", got.Remaining, limit.Capacity()))
		}
	}
	if len(c.decision.Limits) != len(c.policy.Limits) {
		err = fmt.Errorf("%d limits in the answer, %d in the policy", len(c.decision.Limits), len(c.policy.Limits))
	}
	if err != nil {
		return fmt.Errorf("I10: a check of %q through %s: %w", c.request.Key, c.via.name, err)
	}
	return nil
}

// sourceFits holds the source of a decision against the error beside it.
func sourceFits(c *call) error {
	source, mode := c.decision.Source, c.policy.OnUnreachable
	switch {
	case c.err == nil:
		if source == limiter.SourceOwner {
			return nil
		}
		return fmt.Errorf("source %v without an error", source)
	case !errors.Is(c.err, cluster.ErrUnreachable) && !errors.Is(c.err, limiter.ErrFull):
		return fmt.Errorf("unknown error: %w", c.err)
	case source == limiter.SourceShare && mode == policy.Local:
	case source == limiter.SourceFailOpen && mode == policy.Allow:
	case source == limiter.SourceFailClosed && mode != policy.Allow:
	default:
		return fmt.Errorf("source %v in failure mode %v, with the error %w", source, mode, c.err)
	}
	return nil
}

// inRange looks at the numbers of one limit.
func inRange(got *limiter.Result, l *limiter.Limit, cost int64) error {
	switch {
	case got.Limit != l.Count:
		return fmt.Errorf("a limit of %d is called %d", l.Count, got.Limit)
	case got.Remaining < 0 || got.Remaining > l.Capacity():
		return fmt.Errorf("remaining is %d of at most %d", got.Remaining, l.Capacity())
	case got.Allowed != (got.RetryAfter == 0):
		return fmt.Errorf("allowed is %t, and retry after %v", got.Allowed, got.RetryAfter)
	case got.RetryAfter < 0 && (got.RetryAfter != limiter.Never || cost <= l.Capacity()):
		return fmt.Errorf("retry after %v, at cost %d of at most %d", got.RetryAfter, cost, l.Capacity())
	case got.ResetAfter < 0 || got.Delay < 0:
		return fmt.Errorf("a negative time: reset after %v, delay %v", got.ResetAfter, got.Delay)
	}
	return nil
}
