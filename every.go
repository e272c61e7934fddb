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
func (n *Node) every(ctx context.Context, what asking, r *policy.Request, applied []policy.Applied) (policy.Decision, error) {
	return n.decideJoint(ctx, r, applied, n.prepareJoint(what, applied))
}

// joint is one decision of several policies in the making.
type joint struct {
	what      asking
	decisions []policy.Decision // in the order of the policies
	counted   []int             // policies that there are asks about
	asks      []cluster.Ask
	parts     []*scratch // of the asks
}

// prepareJoint decides what is not counted, and prepares the calls for the rest.
func (n *Node) prepareJoint(what asking, applied []policy.Applied) *joint {
	j := &joint{decisions: make([]policy.Decision, len(applied))}
	for i := range applied {
		var uncounted bool
		if j.decisions[i], uncounted = applied[i].Uncounted(); !uncounted {
			j.counted = append(j.counted, i)
		} else if !j.decisions[i].Allowed && (what.op == limiter.Take || what.op == limiter.Acquire) {
			what.op = limiter.Peek // somebody is blocked, so nobody is charged
		}
	}
	j.what = what
	for _, i := range j.counted {
		part := new(scratch)
		part.prepare(what, n.subject(&applied[i], what.named), &applied[i])
		j.parts = append(j.parts, part)
		j.asks = append(j.asks, cluster.Ask{Call: &part.call, Results: part.results, Shadow: applied[i].Plan.Policy().Shadow})
	}
	return j
}

// decideJoint has the calls decided.
func (n *Node) decideJoint(ctx context.Context, r *policy.Request, applied []policy.Applied, j *joint) (policy.Decision, error) {
	asks, parts := j.asks, j.parts
	modes := make([]policy.Unreachable, len(j.counted)) // the closure must not hold r, which would then be allocated for every check
	for k, i := range j.counted {
		modes[k] = mode(&applied[i], r)
	}
	n.askAll(ctx, asks, func(k int) { n.undecided(ctx, modes[k], asks[k].Err, parts[k]) })

	var err error
	for k, i := range j.counted {
		d := applied[i].Plan.Decide(applied[i].Cost, parts[k].results)
		d.OnUnreachable = modes[k]
		j.decisions[i] = d
		if err == nil {
			err = asks[k].Err
		}
	}
	d := n.together(r, applied, j.decisions)
	n.finish(j.what, &d, parts...)
	return d, err
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
