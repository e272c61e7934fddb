package murmurate

import (
	"context"
	"errors"
	"strings"

	"github.com/murmurate/murmurate/policy"
)

// WaitAcquire is Acquire for those who would rather wait: until every limit
// admits r, or ctx ends, or it is plain that waiting does not help. The lease is
// nil exactly if there is an error; the errors are those of Wait.
//
// Those who wait on one node under the same policies and keys are served in the
// order in which they came. Only the first of them asks, every 10 to 20 ms: so
// the nodes of a cluster get about equal shares of what is free, whoever holds
// it. Acquire does not wait its turn.
func (n *Node) WaitAcquire(ctx context.Context, r policy.Request) (Lease, policy.Decision, error) {
	if err := n.over(ctx); err != nil {
		return nil, policy.Decision{}, err
	}
	r.Peek = r.Peek && r.Receipt // see Acquire
	key, err := n.slotQueue(&r)
	if err != nil {
		return nil, policy.Decision{}, err
	}
	w := waiter{node: n, request: r}
	place := n.queues.enter(key)
	defer place.leave()
	if !place.first() {
		if err := place.wait(ctx, n.closing); err != nil {
			d := w.look(context.WithoutCancel(ctx))
			d.Allowed = false
			return nil, d, err
		}
	}
	return w.acquired(ctx)
}

// slotQueue is the queue for the slots that r needs.
func (n *Node) slotQueue(r *policy.Request) (queueKey, error) {
	applied, err := n.Policies().Apply(nil, r, n.matching(false))
	if err != nil {
		return queueKey{}, err
	}
	var policies, keys []string
	for i := range applied {
		if a := &applied[i]; a.Plan.Concurrency() {
			policies, keys = append(policies, a.Plan.Policy().Name), append(keys, a.Key)
		}
	}
	return queueKey{strings.Join(policies, "\x00"), strings.Join(keys, "\x00")}, nil
}

// acquired asks until r is admitted. In between it only looks, so that one who
// waits is not counted as many who are denied.
func (w *waiter) acquired(ctx context.Context) (Lease, policy.Decision, error) {
	for {
		lease, d, err := w.node.lease(ctx, &w.request, true)
		switch {
		case lease != nil:
			return lease, d, nil
		case errors.Is(err, policy.ErrInput):
			return nil, d, err
		}
		for !d.Allowed {
			err = ctx.Err()
			if err == nil {
				err = hopeless(ctx, &d)
			}
			if err == nil {
				err = w.hold(ctx, retryAfter(&d))
			}
			if err != nil {
				d.Allowed = false
				return nil, d, err
			}
			d = w.look(ctx)
		}
	}
}
