package policy

import "slices"

// Durable names the limits of the set, of tiers and overrides too, whose
// counters are kept on disk: policy/limit, in order, each once.
func (s *Set) Durable() []string {
	var names []string
	note := func(p *Plan) {
		for i, name := range p.names {
			if p.policy.Limits[i].Durable && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, r := range s.rules {
		for _, plan := range r.plans {
			note(plan)
		}
		for i := range r.plans[0].policy.Overrides {
			o := &r.plans[0].policy.Overrides[i]
			if len(o.Limits) > 0 {
				note(newPlan(r.plans[0].policy.with(replaced(r.plans[0].policy, o.Limits))))
			}
		}
	}
	return names
}
