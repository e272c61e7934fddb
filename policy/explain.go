package policy

// Explanation says why one policy applies to a request, or why not.
type Explanation struct {
	// Policy is the policy's name.
	Policy string
	// NoMatch is the first of the policy's conditions that does not hold. It
	// repeats nothing of the request. Empty: the policy matches.
	NoMatch string
	// KeyFrom names what each part of the key was taken from, such as
	// "header:X-Api-Key". Empty if the key was given with the check.
	KeyFrom []string
	// Rule is the exemption or override that decided, such as "exempt[0]" or
	// "overrides[2]", or "override" for one that was set at run time.
	Rule string
	// Applied is what Match would find. Zero after NoMatch and Err.
	Applied Applied
	// Err is what Match would return.
	Err error
}

// Explain says of every policy, in configured order, whether and how it
// applies to a request. It tries them all, and is not meant for every call.
func (s *Set) Explain(a Attributes, o MatchOptions) []Explanation {
	v := see(a)
	all := make([]Explanation, len(s.rules))
	for i, r := range s.rules {
		all[i] = r.explain(&v, &o)
	}
	return all
}

func (r *rules) explain(v *view, o *MatchOptions) Explanation {
	e := Explanation{Policy: r.plans[0].policy.Name, NoMatch: r.match.fails(v)}
	if e.NoMatch != "" {
		return e
	}
	if e.Err = o.check(); e.Err != nil {
		return e
	}
	if i := r.exempts(v); i >= 0 {
		e.Rule = indexed("exempt", i)
	}
	if e.Rule == "" && (o.Key == "" || r.key.shared()) {
		for _, entry := range r.key {
			taken, _ := entry.take(v)
			e.KeyFrom = append(e.KeyFrom, taken.String())
		}
	}
	if e.Applied, e.Err = r.apply(v, o); e.Err != nil || e.Applied.Exempt {
		return e
	}
	if r.runtimeOverride(o, e.Applied.Key) != nil {
		e.Rule = "override"
	} else if set := r.overrides.find(e.Applied.Key); set != nil {
		e.Rule = set.place
	}
	return e
}
