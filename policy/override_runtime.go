package policy

import (
	"slices"

	"github.com/murmurate/murmurate/limiter"
)

// CompiledOverride is an [Override] that is set while its policy is in force,
// made ready for checks. It is immutable and shared.
type CompiledOverride struct {
	set   Override
	of    *rules
	plans []*Plan // by tier as in rules.plans; nil if it changes no limit
}

// OverrideWarnings says what o, which [Set.CheckOverride] has judged and which
// is set while its policy is in force, likely does not mean: to be for a key
// that no request has, or to block where nobody is denied. A check may bring
// any key, so none of it is a fault. There is no key in the text. o.Key may be
// a fingerprint; bits says how addresses make keys. Of an unknown policy there
// is nothing to say.
func (s *Set) OverrideWarnings(policyName string, o *Override, bits AddressBits) []string {
	r, ok := s.byName[policyName]
	if !ok {
		return nil
	}
	var warnings []string
	if w := r.key.misses(o, bits); w != "" {
		warnings = append(warnings, "the override "+w)
	}
	if o.Blocked && r.plans[0].policy.Shadow {
		warnings = append(warnings, "the policy is in shadow and denies nobody: the override blocks when shadow is taken away")
	}
	return warnings
}

// CompileOverride makes o, which [Set.CheckOverride] has judged, ready for
// the checks of one policy of s. Limits that the policy does not have (any
// more) are passed over, and the others are as durable as those that they take
// the place of. Whom o is for makes no difference here. The error is that of an
// unknown policy.
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
		c.plans = r.replacing(func(p *Policy) []limiter.Limit { return asDurable(p.Limits, replaced(p, c.set.Limits)) })
	}
	return c
}

// asDurable are limits, each as durable as the one of own that it takes the
// place of: what was spent of a quota would be forgotten with the node if an
// override could take its counter off the disk.
func asDurable(own, limits []limiter.Limit) []limiter.Limit {
	for i := range limits {
		limits[i].Durable = own[i].Durable && limits[i].Algorithm.Windowed()
	}
	return limits
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
