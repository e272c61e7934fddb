package policy

import "slices"

// CompiledOverride is an [Override] that is set while its policy is in force,
// made ready for checks. It is immutable and shared.
type CompiledOverride struct {
	set   Override
	of    *rules
	plans []*Plan // by tier as in rules.plans; nil if it changes no limit
}

// CompileOverride makes o, which [Set.CheckOverride] has judged, ready for
// the checks of one policy of s. Limits that the policy does not have (any
// more) are passed over. Whom o is for makes no difference here. The error is
// that of an unknown policy.
//
// What was compiled for another Set is right in checks of s too, at the price
// of being compiled for each of them: compile anew when the policies change.
func (s *Set) CompileOverride(policyName string, o *Override) (*CompiledOverride, error) {
	r, ok := s.byName[policyName]
	if !ok {
		return nil, s.unknown(policyName)
	}
	return r.compileOverride(o), nil
}

func (r *rules) compileOverride(o *Override) *CompiledOverride {
	c := &CompiledOverride{set: *o, of: r}
	c.set.Limits = slices.Clone(o.Limits)
	if len(c.set.Limits) > 0 {
		c.plans = r.replacing(c.set.Limits)
	}
	return c
}

// runtimeOverride is the one that was set at run time for key, or nil.
func (r *rules) runtimeOverride(o *MatchOptions, key string) *CompiledOverride {
	if o.Override == nil {
		return nil
	}
	c := o.Override(r.plans[0].policy.Name, key)
	if c != nil && c.of != r { // its tiers and limits are another policy's
		return r.compileOverride(&c.set)
	}
	return c
}
