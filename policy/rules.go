package policy

// rules are a policy made ready: whom it applies to and what they are
// charged. They are immutable.
type rules struct {
	// plans are the policy's own limits, and then those of its tiers.
	plans     []*Plan
	match     *matcher
	exempt    []exemption
	key       keyMaker // none: the key is the check's
	tierBy    keyEntry
	tiers     map[string]int // index into plans
	overrides overrides
}

// compile makes p ready, which becomes the rules' own, and reports all of its
// faults. After a fault the rules are not usable.
func compile(p *Policy, fault faultFunc) *rules {
	p.baseFaults(fault)
	p.Cost.faults(p.Limits, p.Name, fault.under("cost"))
	r := &rules{plans: []*Plan{newPlan(p)}}
	r.match = p.Match.compile(fault.under("match"))
	r.key = parseKey(p.Key, r.match.captured(), fault)
	for i := range p.Exempt {
		r.exempt = append(r.exempt, p.Exempt[i].compile(fault.under(indexed("exempt", i))))
	}
	r.compileTiers(p, fault)
	r.compileOverrides(p, fault)
	return r
}

// exempts is the index of the exemption that v has, or -1.
func (r *rules) exempts(v *view) int {
	if len(r.exempt) == 0 {
		return -1
	}
	defer func(kept captures) { v.captures = kept }(v.captures) // keys are made of the policy's own
	for i := range r.exempt {
		if r.exempt[i].holds(v) {
			return i
		}
	}
	return -1
}
