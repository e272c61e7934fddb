package policy

import (
	"errors"
	"fmt"

	"github.com/murmurate/murmurate/limiter"
)

// MatchOptions is what a check says besides its request's attributes. The
// zero value says nothing.
type MatchOptions struct {
	// Key, if not empty, takes the place of the keys that policies make. A
	// policy keyed by global alone keeps its one counter.
	Key string
	// DefaultKey, if not empty, is the key of policies that have none of their
	// own, where Key is empty.
	DefaultKey string
	// Cost, if not 0, takes the place of the policies' costs.
	Cost int64
	// Override, if not nil, returns the override that was set at run time for
	// a policy's exact key, or nil; see [Set.CompileOverride]. It wins over
	// those of the configuration.
	Override func(policy, key string) *CompiledOverride
}

// Applied is one policy that applies to a request.
type Applied struct {
	// Plan is the policy with the limits in force, after tier and override.
	Plan *Plan
	// Key is who is limited. Empty if Exempt.
	Key string
	// Cost is the units to charge, at least 1. 0 if Exempt.
	Cost int64
	// Exempt: the policy charges such requests nothing.
	Exempt bool
	// Unlimited: the key may spend what it likes. Nothing is counted.
	Unlimited bool
	// Blocked: the key is denied.
	Blocked bool
	// Tier is the request's tier, if it is one of the policy's.
	Tier string
	// UnknownTier: the request names a tier that the policy does not have,
	// and has the policy's own limits.
	UnknownTier bool
}

// Match finds every policy that applies to a request, in configured order,
// and appends it to buf. A request without what a policy keys by shares one
// counter with all such requests. The errors are InputErrors: o is wrong, a
// key is too long, an attribute is no cost, or neither the policy nor the
// check says what the key is. Nothing is appended then.
func (s *Set) Match(buf []Applied, a Attributes, o MatchOptions) ([]Applied, error) {
	if err := o.check(); err != nil {
		return buf, err
	}
	v := see(a)
	found := buf
	var err error
	s.index.each(&v, func(i int) bool {
		r := s.rules[i]
		if r.match.fails(&v) != "" {
			return true
		}
		var applied Applied
		if applied, err = r.apply(&v, &o); err == nil {
			found = append(found, applied)
		}
		return err == nil
	})
	if err != nil {
		return buf, err
	}
	return found, nil
}

func (o *MatchOptions) check() error {
	if o.Cost < 0 {
		return &InputError{Field: "cost", Detail: "must not be negative"}
	}
	for _, key := range [...]string{o.Key, o.DefaultKey} {
		if key == "" {
			continue
		}
		if err := CheckKey(key); err != nil {
			return err
		}
	}
	return nil
}

// apply says what v, which matches, is charged.
func (r *rules) apply(v *view, o *MatchOptions) (Applied, error) {
	if r.exempts(v) >= 0 {
		return Applied{Plan: r.plans[0], Exempt: true}, nil
	}
	p := r.plans[0].policy
	key, err := r.keyOf(v, o)
	if err != nil {
		return Applied{}, err
	}
	a := Applied{Key: key, Cost: o.Cost}
	if a.Cost == 0 {
		if a.Cost, err = p.Cost.of(v); err != nil {
			return Applied{}, err
		}
	}
	var tier int
	tier, a.Tier, a.UnknownTier = r.tier(v)
	a.Plan = r.plans[tier]
	r.override(&a, tier, o)
	return a, nil
}

// override gives a what was set for its key.
func (r *rules) override(a *Applied, tier int, o *MatchOptions) {
	if c := r.runtimeOverride(o, a.Key); c != nil {
		a.Unlimited, a.Blocked = c.set.Unlimited, c.set.Blocked
		if c.plans != nil {
			a.Plan = c.plans[tier]
		}
	} else if set := r.overrides.find(a.Key); set != nil {
		a.Unlimited, a.Blocked = set.Unlimited, set.Blocked
		if set.plans != nil {
			a.Plan = set.plans[tier]
		}
	}
}

// Uncounted is the decision on a request that no counter is asked for: the
// policy is exempt or unlimited, and admits, or the key is blocked. ok is
// false if there is something to count.
func (a *Applied) Uncounted() (d Decision, ok bool) {
	p := a.Plan.policy
	switch {
	case a.Blocked:
		results := make([]limiter.Result, len(p.Limits))
		for i := range results {
			results[i] = limiter.Result{Limit: p.Limits[i].Count, RetryAfter: limiter.Never, NextUnit: limiter.Never}
		}
		return a.Plan.Decide(a.Cost, results), true
	case a.Exempt, a.Unlimited:
		return Decision{
			Result: limiter.Result{Allowed: true, Source: limiter.SourceNone},
			Policy: p.Name, Cost: a.Cost, Shadow: p.Shadow, OnUnreachable: p.OnUnreachable,
		}, true
	}
	return Decision{}, false
}

// keyOf is the key of v for this policy.
func (r *rules) keyOf(v *view, o *MatchOptions) (string, error) {
	name := r.plans[0].policy.Name
	switch {
	case o.Key != "" && !r.key.shared():
		return o.Key, nil
	case len(r.key) == 0 && o.DefaultKey != "":
		return o.DefaultKey, nil
	case len(r.key) == 0:
		return "", &InputError{Field: "key", Detail: fmt.Sprintf(
			"is required: policy %q applies and has no key of its own; give the check a key, or the policy one such as [ip]", name)}
	}
	key := r.key.of(v)
	if input, ok := errors.AsType[*InputError](CheckKey(key)); ok {
		return "", &InputError{Field: input.Field, Detail: fmt.Sprintf("that policy %q makes of the request %s", name, input.Detail)}
	}
	return key, nil
}
