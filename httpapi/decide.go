package httpapi

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/murmurate/murmurate/policy"
)

// decide asks the policies that apply. An error means that nothing was
// decided.
func (g *gate) decide(ctx context.Context, check policy.Request) ([]policy.Decision, error) {
	policies, err := g.applying()
	if err != nil {
		return nil, err
	}
	_, hurried := ctx.Deadline()
	if len(policies) > 1 || hurried && policies[0].Delays() {
		return g.decideAll(ctx, check, policies)
	}
	check.Policy = policies[0].Name
	d, err := g.ask(ctx, check)
	return []policy.Decision{d}, err
}

// applying are the policies that requests are charged by, at least one.
func (g *gate) applying() ([]policy.Policy, error) {
	policies := g.policies().Policies()
	if !g.named {
		if len(policies) == 0 {
			return nil, &policy.InputError{Field: "policy", Detail: "the node has none, so nothing would be limited"}
		}
		return policies, nil
	}
	i := slices.IndexFunc(policies, func(p policy.Policy) bool { return p.Name == g.policy })
	if i < 0 {
		return []policy.Policy{{Name: g.policy}}, nil // the node says what is wrong with it
	}
	return policies[i : i+1], nil
}

// decideAll peeks at all policies, and then takes from one after the other
// until one denies. What is not reached stays as it was seen. A request whose
// turn would come too late takes from none.
func (g *gate) decideAll(ctx context.Context, check policy.Request, policies []policy.Policy) ([]policy.Decision, error) {
	decisions := make([]policy.Decision, len(policies))
	var err error
	check.Peek = true
	for i := range policies {
		check.Policy = policies[i].Name
		if decisions[i], err = g.ask(ctx, check); err != nil {
			return nil, err
		}
	}
	if d := policy.Combine(decisions[0], decisions[1:]...); d.Allowed && late(ctx, d.Delay) > 0 {
		return decisions, nil
	}
	check.Peek = false
	for _, i := range takingOrder(policies, decisions) {
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

// takingOrder is the order in which to take from policies that were seen to
// decide as decisions say. Those that would deny come first: they are asked in
// earnest, so that their denial is counted as one, and nobody is charged. The
// others follow by their capacity, since of requests at one time the smallest
// is the one to deny.
func takingOrder(policies []policy.Policy, decisions []policy.Decision) []int {
	order := make([]int, len(policies))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if decisions[a].Allowed != decisions[b].Allowed {
			if decisions[b].Allowed {
				return -1
			}
			return 1
		}
		return cmp.Compare(policies[a].Capacity(), policies[b].Capacity())
	})
	return order
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
