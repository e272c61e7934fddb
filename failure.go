package murmurate

import (
	"context"
	"errors"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// closedRetry is the RetryAfter of a denial that was not counted.
const closedRetry = time.Second

// undecided decides a call that its owner did not, for the reason err.
func (n *Node) undecided(ctx context.Context, mode policy.Unreachable, err error, s *scratch) {
	if errors.Is(ctx.Err(), context.Canceled) { // which says nothing of the owner
		mode = policy.Deny
	} else if !s.call.Op.OfHold() || s.call.Op == limiter.Hold {
		n.outages.report(n.view().OwnerID(s.call.Subject), err)
	}
	n.failureMode(mode, err, s)
}

// failureMode fills the results of a call that its owner did not decide.
// This is the one place where a policy's failure mode takes effect.
func (n *Node) failureMode(mode policy.Unreachable, cause error, s *scratch) {
	switch mode {
	case policy.Allow:
		s.fill(limiter.Result{Allowed: true, Source: limiter.SourceFailOpen})
		return
	case policy.Local:
		// An owner without room was reached: a share would be spent beside it.
		// A node that has left has none.
		none := errors.Is(cause, limiter.ErrFull) || errors.Is(cause, ErrClosed)
		if !none && n.share.Do(&s.call, s.results) == nil {
			return
		}
	case policy.Deny:
	}
	s.fill(limiter.Result{Source: limiter.SourceFailClosed, RetryAfter: closedRetry, NextUnit: closedRetry})
}

// fill gives every limit the same answer.
func (s *scratch) fill(r limiter.Result) {
	for i := range s.results {
		r.Limit = s.call.Charges[i].Limit.Count
		s.results[i] = r
	}
}
