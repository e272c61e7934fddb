package httpapi

import (
	"context"
	"errors"
	"slices"

	"github.com/murmurate/murmurate/policy"
)

// decide has the node decide, which charges every policy that applies or
// none. A request whose turn would come too late is not charged: it leaves its
// place to others. An error means that nothing was decided.
func (g *gate) decide(ctx context.Context, check policy.Request) (policy.Decision, error) {
	if !g.named && len(g.policies().Policies()) == 0 {
		return policy.Decision{}, &policy.InputError{Field: "policy", Detail: "the node has none, so nothing would be limited"}
	}
	if _, hurried := ctx.Deadline(); hurried && g.delays(&check) {
		look := check
		look.Peek, look.Receipt = true, false
		d, err := g.ask(ctx, look)
		if err != nil || d.Allowed && late(ctx, d.Delay) > 0 {
			return d, err
		}
	}
	return g.ask(ctx, check)
}

// delays reports whether a policy that applies can tell the request to wait.
func (g *gate) delays(check *policy.Request) bool {
	applied, err := g.policies().Apply(nil, check, policy.MatchOptions{})
	return err == nil && slices.ContainsFunc(applied, func(a policy.Applied) bool { return a.Plan.Delays() }) // the node says what is wrong
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
