package httpapi

import (
	"context"
	"errors"
	"slices"

	"github.com/murmurate/murmurate/policy"
)

// decide asks the policies that apply. An error means that nothing was
// decided.
func (g *gate) decide(ctx context.Context, check policy.Request) ([]policy.Decision, error) {
	if g.named {
		d, err := g.ask(ctx, check)
		return []policy.Decision{d}, err
	}
	switch policies := g.policies().Policies(); len(policies) {
	case 0:
		return nil, &policy.InputError{Field: "policy", Detail: "the node has none, so nothing would be limited"}
	case 1:
		check.Policy = policies[0].Name
		d, err := g.ask(ctx, check)
		return []policy.Decision{d}, err
	default:
		return g.decideAll(ctx, check, policies)
	}
}

// decideAll peeks at all policies, and then takes from one after the other
// until one denies. Those that would deny come first: they are asked in
// earnest, so that their denial is counted as one, and nobody is charged. What
// is not reached stays as it was seen.
func (g *gate) decideAll(ctx context.Context, check policy.Request, policies []policy.Policy) ([]policy.Decision, error) {
	decisions, order := make([]policy.Decision, len(policies)), make([]int, len(policies))
	var err error
	check.Peek = true
	for i := range policies {
		check.Policy, order[i] = policies[i].Name, i
		if decisions[i], err = g.ask(ctx, check); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case decisions[a].Allowed == decisions[b].Allowed:
			return 0
		case decisions[b].Allowed:
			return -1
		}
		return 1
	})
	check.Peek = false
	for _, i := range order {
		check.Policy = policies[i].Name
		if decisions[i], err = g.ask(ctx, check); err != nil {
			return nil, err
		}
		if !decisions[i].Allowed {
			break
		}
	}
	return decisions, nil
}

// ask has one policy decide. With an error of the infrastructure the failure
// mode has decided, and there is nothing to add.
func (g *gate) ask(ctx context.Context, check policy.Request) (policy.Decision, error) {
	d, err := g.node.Check(ctx, check)
	if errors.Is(err, policy.ErrInput) {
		return d, err
	}
	return d, nil
}
