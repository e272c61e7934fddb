package httpapi

import (
	"context"
	"errors"
	"slices"

	"github.com/murmurate/murmurate/policy"
)

// decide has the node decide, which charges every policy that applies or
// none. A request whose turn would come too late is not charged: it leaves its
// place to others. An admitted request that has slots of a concurrency limit
// gets the lease of them. An error means that nothing was decided.
func (g *gate) decide(ctx context.Context, check policy.Request) (policy.Lease, policy.Decision, error) {
	if !g.named && len(g.policies().Policies()) == 0 {
		return nil, policy.Decision{}, &policy.InputError{Field: "policy", Detail: "the node has none, so nothing would be limited"}
	}
	if _, hurried := ctx.Deadline(); hurried && g.anyPlan(&check, (*policy.Plan).Delays) {
		look := check
		look.Peek, look.Receipt = true, false
		d, err := g.ask(ctx, look)
		if err != nil || d.Allowed && late(ctx, d.Delay) > 0 {
			return nil, d, err
		}
	}
	if g.policies().Concurrency() && g.anyPlan(&check, (*policy.Plan).Concurrency) {
		return g.acquire(ctx, check)
	}
	d, err := g.ask(ctx, check)
	return nil, d, err
}

// anyPlan reports whether one of the policies that apply is such. The node says
// what is wrong with a request.
func (g *gate) anyPlan(check *policy.Request, such func(*policy.Plan) bool) bool {
	applied, err := g.policies().Apply(nil, check, policy.MatchOptions{})
	return err == nil && slices.ContainsFunc(applied, func(a policy.Applied) bool { return such(a.Plan) })
}

// acquire is ask for a request that needs slots, and waits for them if it may.
// When it has waited long enough it asks once more, to be told what denies it.
func (g *gate) acquire(ctx context.Context, check policy.Request) (lease policy.Lease, d policy.Decision, err error) {
	if g.acquirer == nil {
		return nil, d, &policy.InputError{Field: "policy", Detail: "has a concurrency limit, but the node of this middleware has no methods Acquire and WaitAcquire"}
	}
	if g.wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, g.wait)
		defer cancel()
		if lease, d, err = g.acquirer.WaitAcquire(waiting, check); lease != nil || errors.Is(err, policy.ErrInput) {
			return lease, d, err
		}
	}
	if lease, d, err = g.acquirer.Acquire(ctx, check); !errors.Is(err, policy.ErrInput) {
		err = nil
	}
	return lease, d, err
}

// ask has the node decide. With an error of the infrastructure the failure
// mode has decided, and there is nothing to add.
func (g *gate) ask(ctx context.Context, check policy.Request) (policy.Decision, error) {
	d, err := g.node.Check(ctx, check)
	if errors.Is(err, policy.ErrInput) {
		return d, err
	}
	return d, nil
}
