package murmurate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Outcomes of a decision, as an [Observer] hears them.
const (
	outcomeAllowed      = "allowed"
	outcomeDenied       = "denied"
	outcomeShadowDenied = "shadow_denied"
	outcomeError        = "error"
)

// closedRetry is the RetryAfter of a denial that was not counted.
const closedRetry = time.Second

// scratch is the memory of one check in flight.
type scratch struct {
	call    limiter.Call
	results []limiter.Result
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Check decides r.
//
// policy.ErrInput: r is wrong, nothing was decided or charged, and the
// Decision is empty. Any other error (cluster.ErrUnreachable,
// limiter.ErrFull) says why the owner did not decide; the Decision is then
// the failure mode's, and ignoring the error is safe.
func (n *Node) Check(ctx context.Context, r policy.Request) (policy.Decision, error) {
	op := limiter.Take
	if r.Peek {
		op = limiter.Peek
	}
	return n.do(ctx, op, &r)
}

// Reset makes the counters of key in the named policy as if unused, and
// returns what a check would then see. After an error other than
// policy.ErrInput nothing is known to be reset.
func (n *Node) Reset(ctx context.Context, policyName, key string) (policy.Decision, error) {
	return n.do(ctx, limiter.Reset, &policy.Request{Policy: policyName, Key: key})
}

func (n *Node) do(ctx context.Context, op limiter.Op, r *policy.Request) (policy.Decision, error) {
	plan, err := n.options.Policies.Resolve(r)
	if err != nil {
		return policy.Decision{}, err
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	s.call.Op = op
	s.call.Subject = n.identity.Subject(plan.Namespace(), r.Key)
	s.call.Charges = plan.Charges(s.call.Charges[:0], r.Cost)
	s.results = append(s.results[:0], make([]limiter.Result, len(s.call.Charges))...)

	err = n.router.Do(ctx, &s.call, s.results)
	if err != nil {
		if ctx.Err() == nil { // else the caller left, which says nothing of the owner
			n.outages.report(n.view().OwnerID(s.call.Subject), err)
		}
		n.failureMode(plan.OnUnreachable(), err, s)
	}
	d := plan.Decide(r.Cost, s.results)
	if op == limiter.Take { // a look or a reset decides about nobody
		n.options.Observer.Decision(label(r), outcome(&d), d.Source)
	}
	return d, err
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
		if !errors.Is(cause, limiter.ErrFull) && n.share.Do(&s.call, s.results) == nil {
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

// label is the policy label of a metric. Names that callers make up are
// unbounded, so all inline limits share one.
func label(r *policy.Request) string {
	if r.Limit != nil {
		return policy.InlineName
	}
	return r.Policy
}

// outcome is the result label of a metric.
func outcome(d *policy.Decision) string {
	switch {
	case d.Allowed && d.Denied():
		return outcomeShadowDenied
	case d.Allowed:
		return outcomeAllowed
	case d.Source == limiter.SourceFailClosed:
		return outcomeError
	}
	return outcomeDenied
}
