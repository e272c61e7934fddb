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
	op := opOf(&r)
	return n.do(ctx, asking{op: op, named: byFingerprint(op, &r)}, &r)
}

// asking is what somebody asks of the counters that a request is about.
type asking struct {
	op limiter.Op
	// named: the request's key may be the fingerprint that somebody saw.
	named bool
	// patient: it is who waits for their turn, as limiter.Call says.
	patient bool
	// free: slots are occupied, and of other limits nothing is charged yet.
	free bool
	// draft is the receipt that the request asks for. Nil: none.
	draft *draft
}

// charges reports whether what is admitted is charged at once.
func (a *asking) charges() bool { return a.op != limiter.Peek && !a.free }

func opOf(r *policy.Request) limiter.Op {
	if r.Peek {
		return limiter.Peek
	}
	return limiter.Take
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

// Peek answers as Allow would, and charges nothing. Like Allow it is about the
// counter of key as given, not about one of a key that the policy makes.
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
// returns what a check would then see. Where the policy makes keys of requests
// those are meant as well: "k1" is also the counter of requests that have k1
// where the policy looks first, such as header:x-api-key=k1. The Decision is
// that of the counter closest to denying. After an error other than
// policy.ErrInput nothing is known to be reset. As for Peek and OwnerOf, key
// may be its Fingerprint instead.
func (n *Node) Reset(ctx context.Context, policyName, key string) (policy.Decision, error) {
	keys, err := n.Policies().LookupKeys(policyName, key)
	if err != nil {
		return policy.Decision{}, err
	}
	var closest policy.Decision
	for i, key := range keys {
		d, err := n.do(ctx, asking{op: limiter.Reset, named: true}, &policy.Request{Policy: policyName, Key: key})
		if err != nil {
			return d, err
		}
		if i == 0 || policy.Closer(&d.Result, &closest.Result) {
			closest = d
		}
	}
	return closest, nil
}

// do decides r.
func (n *Node) do(ctx context.Context, what asking, r *policy.Request) (policy.Decision, error) {
	if what.named {
		if err := n.spell(r); err != nil {
			return policy.Decision{}, err
		}
	}
	s := scratches.Get().(*scratch)
	defer s.release()
	applied, err := n.Policies().Apply(s.applied[:0], r, n.matching(what.named))
	s.applied = applied
	if err != nil {
		return policy.Decision{}, err
	}
	if what.draft, err = n.draft(r, applied); err != nil {
		return policy.Decision{}, err
	}
	if len(applied) != 1 {
		return n.every(ctx, what, r, applied)
	}
	a := &applied[0]
	d, uncounted := a.Uncounted()
	if uncounted && what.op != limiter.Reset {
		n.finish(what, &d)
	} else {
		s.prepare(what, n.subject(a, what.named), a)
		if err = n.ask(ctx, s); err != nil {
			n.undecided(ctx, mode(a, r), err, s)
		}
		d = a.Plan.Decide(a.Cost, s.results)
		d.OnUnreachable = mode(a, r)
		n.finish(what, &d, s)
	}
	if what.op == limiter.Take || what.draft != nil { // a look or a reset decides about nobody
		n.observe(r, a, &d)
	}
	return d, err
}

// release gives s back, without the keys that it held.
func (s *scratch) release() {
	clear(s.applied)
	scratches.Put(s)
}

// prepare makes s the call that a stands for.
func (s *scratch) prepare(what asking, subject limiter.Subject, a *policy.Applied) {
	s.call.Op, s.call.Patient, s.call.Receipt = what.op, what.patient, limiter.ReceiptID{}
	if what.draft != nil && what.charges() {
		s.call.Receipt = what.draft.ID
	}
	s.call.Subject = subject
	s.call.Charges = a.Plan.Charges(s.call.Charges[:0], a.Cost)
	for i := range s.call.Charges {
		if c := &s.call.Charges[i]; what.free && c.Limit.Algorithm != limiter.Concurrency {
			c.Cost = 0
		}
	}
	s.results = append(s.results[:0], make([]limiter.Result, len(s.call.Charges))...)
}

// mode is the failure mode in force. Of a durable limit nobody has a share: what
// its counter holds is on the owner's disk, and nowhere else.
func mode(a *policy.Applied, r *policy.Request) policy.Unreachable {
	m := a.Plan.OnUnreachable()
	if r.OnUnreachable != nil {
		m = *r.OnUnreachable
	}
	if m == policy.Local && a.Plan.Durable() {
		return policy.Deny
	}
	return m
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
	n.observeQuotas(name, a, d)
	if !d.Denied() {
		return
	}
	for i := range d.Limits {
		l := &d.Limits[i]
		if l.Allowed || l.Source == limiter.SourceFailClosed {
			continue
		}
		limit := a.Plan.Policy().Limits[i].Name
		o.Denied(name, limit)
		if r.Limit != nil {
			limit = policy.InlineName // its callers may give it any number of names
		}
		n.denials.report(denial{name, limit, d.Shadow}, l.RetryAfter, func() limiter.Subject { return n.subject(a, false) })
	}
}

// observeQuotas tells how much of its quotas the key has used, if their owner
// said so.
func (n *Node) observeQuotas(name string, a *policy.Applied, d *policy.Decision) {
	if name == policy.InlineName {
		return // the names of their limits are the callers'
	}
	for i := range d.Limits {
		l := &d.Limits[i]
		if used, ok := l.Used(); ok && l.Algorithm == limiter.Quota && l.Capacity > 0 {
			n.options.Observer.QuotaUsed(name, a.Plan.Policy().Limits[i].Name, float64(used)/float64(l.Capacity), l.ResetAfter)
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
