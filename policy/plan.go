package policy

import (
	"slices"

	"github.com/murmurate/murmurate/limiter"
)

// Plan is a policy made ready for charging. It is immutable and shared.
type Plan struct {
	policy  *Policy
	names   []string         // of the limits, as seen outside: policy/limit
	charge  []limiter.Charge // costs are the policy's default
	durable bool             // one of the limits is
}

// NewPlan makes p ready as it is, without judging it: for one that was judged
// elsewhere. Only its limits, names and mode count.
func NewPlan(p *Policy) *Plan { return newPlan(p) }

// newPlan copies p, so that the caller's later changes do not show.
func newPlan(p *Policy) *Plan {
	own := *p
	own.Limits = append([]limiter.Limit(nil), p.Limits...)
	plan := &Plan{policy: &own}
	for i := range own.Limits {
		l := &own.Limits[i]
		name := own.Name
		if l.Name == "" {
			l.Name = own.Name
		} else if l.Name != own.Name || len(own.Limits) > 1 {
			name = own.Name + "/" + l.Name
		}
		plan.names = append(plan.names, name)
		plan.durable = plan.durable || l.Durable
		cost := own.cost()
		if l.Algorithm == limiter.Concurrency {
			cost = 1
		}
		plan.charge = append(plan.charge, limiter.Charge{
			Limit: l, Tag: l.Tag(), Cost: cost,
			Cooldown: own.Cooldown.For, Extend: own.Cooldown.Extend,
		})
	}
	return plan
}

// Policy is the policy that p was made of, with the limits in force, each of
// them named. For reading only.
func (p *Plan) Policy() *Policy { return p.policy }

// Namespace separates the policy's counters from others with the same key.
func (p *Plan) Namespace() string { return p.policy.Name }

// OnUnreachable is the policy's failure mode.
func (p *Plan) OnUnreachable() Unreachable { return p.policy.OnUnreachable }

// Durable reports whether one of the policy's limits is kept on disk.
func (p *Plan) Durable() bool { return p.durable }

// Delays is that of the policy.
func (p *Plan) Delays() bool {
	return p.policy.Delays()
}

// LimitName is the name of the policy's i-th limit in decisions.
func (p *Plan) LimitName(i int) string { return p.names[i] }

// Concurrency reports whether one of the policy's limits has slots for leases.
func (p *Plan) Concurrency() bool { return slices.ContainsFunc(p.policy.Limits, hasSlots) }

func hasSlots(l limiter.Limit) bool { return l.Algorithm == limiter.Concurrency }

// Charges appends to buf what a request of the given cost is charged. Cost 0
// is the policy's default. Of a concurrency limit it is one slot.
func (p *Plan) Charges(buf []limiter.Charge, cost int64) []limiter.Charge {
	start := len(buf)
	buf = append(buf, p.charge...)
	if cost > 0 {
		for i := range buf[start:] {
			if c := &buf[start+i]; c.Limit.Algorithm != limiter.Concurrency {
				c.Cost = cost
			}
		}
	}
	return buf
}
