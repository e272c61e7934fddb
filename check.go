package murmurate

import (
	"context"
	"sync"

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

// scratch is the memory of one check in flight.
type scratch struct {
	applied []policy.Applied
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
// policy.ErrInput nothing is known to be reset. As for Peek and OwnerOf, key
// may be its Fingerprint instead.
func (n *Node) Reset(ctx context.Context, policyName, key string) (policy.Decision, error) {
	return n.do(ctx, limiter.Reset, &policy.Request{Policy: policyName, Key: key})
}

func (n *Node) do(ctx context.Context, op limiter.Op, r *policy.Request) (policy.Decision, error) {
	s := scratches.Get().(*scratch)
	defer s.release()
	applied, err := n.Policies().Apply(s.applied[:0], r, policy.MatchOptions{})
	s.applied = applied
	if err != nil {
		return policy.Decision{}, err
	}
	draft, err := n.draft(r, applied)
	if err != nil {
		return policy.Decision{}, err
	}
	if len(applied) != 1 {
		return n.every(ctx, op, r, applied, draft)
	}
	a := &applied[0]
	d, uncounted := a.Uncounted()
	if uncounted && op != limiter.Reset {
		n.finish(draft, op, &d)
	} else {
		s.prepare(n, op, a, draft)
		if err = n.ask(ctx, s); err != nil {
			n.undecided(ctx, mode(a, r), err, s)
		}
		d = a.Plan.Decide(a.Cost, s.results)
		d.OnUnreachable = mode(a, r)
		n.finish(draft, op, &d, s)
	}
	if op == limiter.Take || draft != nil { // a look or a reset decides about nobody
		n.observe(r, a, &d)
	}
	return d, err
}

// release gives s back, without the keys that it held.
func (s *scratch) release() {
	clear(s.applied)
	scratches.Put(s)
}

// prepare makes s the call that a stands for, with the receipt of d.
func (s *scratch) prepare(n *Node, op limiter.Op, a *policy.Applied, d *draft) {
	s.call.Op, s.call.Receipt = op, limiter.ReceiptID{}
	if d == nil {
		s.call.Subject = n.subject(op, a)
	} else {
		d.name(s, n.subject(limiter.Take, a))
	}
	s.call.Charges = a.Plan.Charges(s.call.Charges[:0], a.Cost)
	s.results = append(s.results[:0], make([]limiter.Result, len(s.call.Charges))...)
}

// subject is whom a counts. Those who look, and those who reset, may give the
// fingerprint that they saw instead of the key. Those who take may not: what a
// client sends as its key would name another's counter.
func (n *Node) subject(op limiter.Op, a *policy.Applied) limiter.Subject {
	if op != limiter.Take {
		if s, ok := limiter.ParseSubject(a.Key); ok {
			return s
		}
	}
	return n.identity.Subject(a.Plan.Namespace(), a.Key)
}

// mode is the failure mode in force.
func mode(a *policy.Applied, r *policy.Request) policy.Unreachable {
	if r.OnUnreachable != nil {
		return *r.OnUnreachable
	}
	return a.Plan.OnUnreachable()
}

// ask has the call of s decided by its owner.
func (n *Node) ask(ctx context.Context, s *scratch) error {
	if n.hasEnded() {
		return ErrClosed
	}
	return n.router.Do(ctx, &s.call, s.results)
}

// observe tells of one policy's decision.
func (n *Node) observe(r *policy.Request, a *policy.Applied, d *policy.Decision) {
	o, name := n.options.Observer, label(r, d)
	o.Decision(name, outcome(d), d.Source)
	if a.UnknownTier {
		o.UnknownTier(name)
	}
	if !d.Denied() {
		return
	}
	for i := range d.Limits {
		if l := &d.Limits[i]; !l.Allowed && l.Source != limiter.SourceFailClosed {
			o.Denied(name, a.Plan.Policy().Limits[i].Name)
		}
	}
}

// label is the policy label of a metric. Names that callers make up are
// unbounded, so all inline limits share one.
func label(r *policy.Request, d *policy.Decision) string {
	if r.Limit != nil {
		return policy.InlineName
	}
	return d.Policy
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
