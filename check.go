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
// limiter.ErrFull, ErrClosed) says why the owner did not decide; the Decision
// is then the failure mode's, and ignoring the error is safe. Only a caller
// who left (ctx was cancelled, with whatever cause) is denied whatever the
// failure mode says: to leave must not be a way around a limit.
func (n *Node) Check(ctx context.Context, r policy.Request) (policy.Decision, error) {
	op := limiter.Take
	if r.Peek {
		op = limiter.Peek
	}
	return n.do(ctx, op, &r)
}

// Allow asks whether one request of key may pass in the named policy, and
// charges what the policy says that a request costs. It is Check with the
// least to say; the errors are Check's. A denial is no error: look at
// Decision.Allowed.
func (n *Node) Allow(ctx context.Context, policyName, key string) (policy.Decision, error) {
	return n.Check(ctx, policy.Request{Policy: policyName, Key: key})
}

// AllowN is Allow at a cost of units. At 0 it asks whether a request of cost
// 1 would pass, and charges nothing.
func (n *Node) AllowN(ctx context.Context, policyName, key string, units int64) (policy.Decision, error) {
	r := policy.Request{Policy: policyName, Key: key, Cost: units}
	if units != 0 {
		return n.Check(ctx, r)
	}
	r.Peek, r.Cost = true, 1
	d, err := n.Check(ctx, r)
	d.Cost, d.Delay = 0, 0
	return d, err
}

// Peek answers as Allow would, and charges nothing.
func (n *Node) Peek(ctx context.Context, policyName, key string) (policy.Decision, error) {
	return n.Check(ctx, policy.Request{Policy: policyName, Key: key, Peek: true})
}

// Take charges one unit of key by a limit made in code, which needs no
// policy:
//
//	d, err := node.Take(ctx, "user:42", limiter.PerMinute(100).WithBurst(20))
//
// The limit's name, algorithm and period identify the counter; what goes by
// another name counts apart. The errors are Check's.
func (n *Node) Take(ctx context.Context, key string, limit limiter.Limit) (policy.Decision, error) {
	return n.Check(ctx, policy.Request{Key: key, Limit: &limit})
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

	mode := plan.OnUnreachable()
	if r.OnUnreachable != nil {
		mode = *r.OnUnreachable
	}
	if n.hasEnded() {
		err = ErrClosed
	} else {
		err = n.router.Do(ctx, &s.call, s.results)
	}
	switch {
	case err == nil:
	case errors.Is(ctx.Err(), context.Canceled): // says nothing of the owner
		n.failureMode(policy.Deny, err, s)
	default:
		n.outages.report(n.view().OwnerID(s.call.Subject), err)
		n.failureMode(mode, err, s)
	}
	d := plan.Decide(r.Cost, s.results)
	d.OnUnreachable = mode
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
