package murmurate

import (
	"context"
	"slices"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// every decides a request that several policies apply to, or none: it is
// charged by all of them, or by none. The error is the first that an owner
// did not decide for.
func (n *Node) every(ctx context.Context, op limiter.Op, r *policy.Request, applied []policy.Applied, draft *draft) (policy.Decision, error) {
	decisions := make([]policy.Decision, len(applied))
	var counted []int // of applied
	for i := range applied {
		var uncounted bool
		if decisions[i], uncounted = applied[i].Uncounted(); !uncounted {
			counted = append(counted, i)
		} else if !decisions[i].Allowed && op == limiter.Take {
			op = limiter.Peek // somebody is blocked, so nobody is charged
		}
	}
	asks, parts := n.asks(op, applied, counted, draft)
	modes := make([]policy.Unreachable, len(counted)) // the closure must not hold r, which would then be allocated for every check
	for j, i := range counted {
		modes[j] = mode(&applied[i], r)
	}
	n.askAll(ctx, asks, func(j int) { n.undecided(ctx, modes[j], asks[j].Err, parts[j]) })

	var err error
	for j, i := range counted {
		d := applied[i].Plan.Decide(applied[i].Cost, parts[j].results)
		d.OnUnreachable = modes[j]
		decisions[i] = d
		if err == nil {
			err = asks[j].Err
		}
	}
	d := n.together(r, applied, decisions)
	n.finish(draft, op, &d, parts...)
	return d, err
}

// asks are the calls of those of applied that are counted, in parts.
func (n *Node) asks(op limiter.Op, applied []policy.Applied, counted []int, draft *draft) (asks []cluster.Ask, parts []*scratch) {
	for _, i := range counted {
		part := new(scratch)
		part.prepare(n, op, &applied[i], draft)
		parts = append(parts, part)
		asks = append(asks, cluster.Ask{Call: &part.call, Results: part.results, Shadow: applied[i].Plan.Policy().Shadow})
	}
	return asks, parts
}

func (n *Node) askAll(ctx context.Context, asks []cluster.Ask, instead func(i int)) {
	if !n.hasEnded() {
		n.router.DoAll(ctx, asks, instead)
		return
	}
	for i := range asks {
		asks[i].Err = ErrClosed
		instead(i)
	}
}

// together is the one decision of several, and tells of each. What is exempt
// or unlimited says nothing beside what was counted. A policy that admits what
// another denies has charged nothing, and has not decided.
func (n *Node) together(r *policy.Request, applied []policy.Applied, decisions []policy.Decision) policy.Decision {
	if len(decisions) == 0 {
		return policy.Decision{Result: limiter.Result{Allowed: true, Source: limiter.SourceNone}, Cost: max(r.Cost, 1)}
	}
	denied := slices.ContainsFunc(decisions, func(d policy.Decision) bool { return !d.Allowed })
	for i := range decisions {
		if d := &decisions[i]; (!r.Peek || r.Receipt) && (!denied || !d.Allowed || d.Denied()) {
			n.observe(r, &applied[i], d)
		}
	}
	limited := slices.DeleteFunc(slices.Clone(decisions), func(d policy.Decision) bool { return len(d.Limits) == 0 })
	if len(limited) == 0 {
		return decisions[0]
	}
	return policy.Combine(limited[0], limited[1:]...)
}
