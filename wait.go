package murmurate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Errors, matched with errors.Is.
var (
	// ErrNever is that of Wait and means that the request costs more than a limit can ever hold.
	ErrNever = errors.New("murmurate: the request can never pass: it costs more than the limit holds")
	// ErrClosed means that the node is closed, or was meanwhile. Check and its
	// like return it too, with what the failure mode decides; a share is spent
	// no more.
	ErrClosed = errors.New("murmurate: the node is closed")
)

const (
	// waitLook is how often a long wait looks whether it has become shorter,
	// by a reset or a raised limit.
	waitLook = 5 * time.Second
	// slotLook is how often somebody looks for a free slot, at most; half as
	// often at least.
	slotLook = 10 * time.Millisecond
	// waitLeast keeps a wait from spinning.
	waitLeast = time.Millisecond
)

// Wait blocks until the named policy admits a request of key, and charges
// what the policy says that a request costs. The error is nil if and only if
// the request was admitted, by whichever source the decision names; the wait
// of a leaky bucket is over then.
//
// It gives up as soon as it is plain that waiting does not help: with
// ErrNever, with context.DeadlineExceeded if ctx ends before the request
// could pass, with ctx's error when ctx ends, with ErrClosed, or with a
// policy.ErrInput. Nothing was charged then, unless ctx ended while a leaky
// bucket let the request wait its turn, or the owner was out of reach and
// the policy's failure mode denied. The decision is the last that was made.
//
// Those who wait on one node for one key are admitted in the order in which
// they came. They wait out a policy's cool-down, and begin or extend none:
// they ask again when they were told to.
func (n *Node) Wait(ctx context.Context, policyName, key string) (policy.Decision, error) {
	return n.wait(ctx, policy.Request{Policy: policyName, Key: key})
}

// WaitN is Wait at a cost of units. At 0 it waits until a request of cost 1
// would pass, and charges nothing.
func (n *Node) WaitN(ctx context.Context, policyName, key string, units int64) (policy.Decision, error) {
	r := policy.Request{Policy: policyName, Key: key, Cost: units}
	if units == 0 {
		r.Peek, r.Cost = true, 1
	}
	return n.wait(ctx, r)
}

func (n *Node) wait(ctx context.Context, r policy.Request) (policy.Decision, error) {
	w := waiter{node: n, request: r}
	_, err := w.delays()
	if err == nil {
		err = n.over(ctx)
	}
	if err != nil {
		return policy.Decision{}, err
	}
	d, err := w.inTurn(ctx, queueKey{r.Policy, r.Key})
	switch {
	case err != nil:
	case r.Peek:
		d.Cost, d.Delay = 0, 0
	default:
		err = n.pause(ctx, d.Delay)
	}
	d.Allowed = err == nil
	return d, err
}

// waiter is one call of Wait at the head of its queue.
type waiter struct {
	node    *Node
	request policy.Request
}

// inTurn waits for those who came before, and then until the request is
// admitted.
func (w *waiter) inTurn(ctx context.Context, key queueKey) (policy.Decision, error) {
	place := w.node.queues.enter(key)
	defer place.leave() // whoever is admitted waits out a delay beside the others
	if !place.first() {
		if d := w.look(ctx); ctx.Err() == nil {
			if err := hopeless(ctx, &d); err != nil {
				return d, err
			}
		}
		if err := place.wait(ctx, w.node.closing); err != nil {
			return w.look(ctx), err
		}
	}
	return w.admitted(ctx)
}

// admitted asks until the request is admitted.
func (w *waiter) admitted(ctx context.Context) (policy.Decision, error) {
	for {
		d, err := w.attempt(ctx)
		if err != nil || d.Allowed {
			return d, err
		}
		if err := w.hold(ctx, retryAfter(&d)); err != nil {
			return d, err
		}
	}
}

// attempt asks once. The error says that asking again does not help.
func (w *waiter) attempt(ctx context.Context) (policy.Decision, error) {
	if end, limited := ctx.Deadline(); limited {
		delays, err := w.delays()
		if err != nil {
			return policy.Decision{}, err
		}
		if delays {
			if d := w.look(ctx); d.Allowed && time.Now().Add(d.Delay).After(end) {
				return d, tooLate(d.Delay)
			}
		}
	}
	op := opOf(&w.request)
	d, err := w.node.do(ctx, asking{op: op, named: byFingerprint(op, &w.request), patient: true}, &w.request)
	switch {
	case errors.Is(err, policy.ErrInput):
		return d, err
	case d.Allowed:
		return d, nil
	case ctx.Err() != nil:
		return d, ctx.Err()
	}
	return d, hopeless(ctx, &d)
}

// hold waits until it is worth asking again, after wait or sooner.
func (w *waiter) hold(ctx context.Context, wait time.Duration) error {
	for wait > waitLook {
		if err := w.node.pause(ctx, waitLook); err != nil {
			return err
		}
		d := w.look(ctx)
		if err := hopeless(ctx, &d); err != nil {
			return err
		}
		wait = retryAfter(&d)
	}
	return w.node.pause(ctx, max(wait, waitLeast))
}

// delays reports whether an admission may come with a delay, by the policies
// in force.
func (w *waiter) delays() (bool, error) {
	applied, err := w.node.Policies().Apply(nil, &w.request, w.node.matching(w.request.Peek))
	return err == nil && applied[0].Plan.Delays(), err
}

// look asks without charging. Its error is in the decision's source.
func (w *waiter) look(ctx context.Context) policy.Decision {
	r := w.request
	if r.Peek && r.Receipt { // nothing is charged yet, so there need be no more than one unit
		r.Cost = 1
	}
	named := r.Peek && byFingerprint(limiter.Peek, &r) // that of somebody who takes is no fingerprint
	r.Peek, r.Receipt = true, false
	d, _ := w.node.do(ctx, asking{op: limiter.Peek, named: named}, &r)
	return d
}

// hopeless says why waiting after d does not help, if it does not. What only
// a share or the failure mode said may be other in a moment.
func hopeless(ctx context.Context, d *policy.Decision) error {
	if d.Allowed || d.Source != limiter.SourceOwner {
		return nil
	}
	if d.RetryAfter == limiter.Never {
		return ErrNever
	}
	wait, _ := atLeast(d)
	if end, limited := ctx.Deadline(); limited && time.Now().Add(wait).After(end) {
		return tooLate(wait)
	}
	return nil
}

// atLeast is how long a request that d denies has to wait in any case. That is
// not said of a slot: its holder lets go of it when it likes, and slots reports
// that the request needs one.
func atLeast(d *policy.Decision) (wait time.Duration, slots bool) {
	for i := range d.Limits {
		l := &d.Limits[i]
		switch {
		case l.Allowed || l.Shadow:
		case l.Algorithm == limiter.Concurrency:
			slots = true
		default:
			wait = max(wait, l.RetryAfter)
		}
	}
	return wait, slots
}

func tooLate(wait time.Duration) error {
	return fmt.Errorf("murmurate: the request can pass in %v at the earliest: %w", wait, context.DeadlineExceeded)
}

// retryAfter is when to ask again after d.
func retryAfter(d *policy.Decision) time.Duration {
	if d.RetryAfter == limiter.Never {
		return closedRetry
	}
	if wait, slots := atLeast(d); slots {
		look := slotLook + rand.N(slotLook) //nolint:gosec // so that of several nodes none is always the first
		return max(wait, look)
	}
	return d.RetryAfter
}

// over returns why nobody waits any more, or nil.
func (n *Node) over(ctx context.Context) error {
	select {
	case <-n.closing:
		return ErrClosed
	default:
		return ctx.Err()
	}
}

// pause waits for d, or returns why it did not.
func (n *Node) pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-n.closing:
		return ErrClosed
	}
}
