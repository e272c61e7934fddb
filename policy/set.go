package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// DefaultName is the name of the built-in policy.
const DefaultName = "default"

// Default is the built-in policy, in force when no policy is configured: a
// sliding window of 100 per minute for each key.
func Default() Policy {
	return Policy{Name: DefaultName, Limits: []limiter.Limit{
		{Algorithm: limiter.SlidingWindow, Count: 100, Period: time.Minute},
	}}
}

// Set is an immutable collection of policies. The zero value has none; a nil
// Set is not usable.
type Set struct {
	policies []Policy
	rules    []*rules // of policies
	byName   map[string]*rules
	index    index
	slots    bool // see Concurrency
}

// NewSet checks the policies and prepares them for use. Without any, the set
// holds [Default]. Names that differ in case are different names. The error
// joins every fault of every policy, each an [*InputError].
func NewSet(policies ...Policy) (*Set, error) {
	if len(policies) == 0 {
		policies = []Policy{Default()}
	}
	s := &Set{byName: make(map[string]*rules, len(policies))}
	var faults []*InputError
	for i := range policies {
		p := policies[i].clone()
		r := compile(&p, appendTo(&faults).under(indexed("policies", i)))
		if _, taken := s.byName[p.Name]; taken {
			faults = append(faults, &InputError{
				Field:  fmt.Sprintf("policies[%d].name", i),
				Detail: fmt.Sprintf("%q is already the name of another policy", clip(p.Name)),
			})
		}
		if p.Name == InlineName {
			faults = append(faults, &InputError{
				Field:  fmt.Sprintf("policies[%d].name", i),
				Detail: fmt.Sprintf("%q is taken: it is the namespace of limits that callers bring without a name", InlineName),
			})
		}
		s.policies = append(s.policies, *r.plans[0].policy)
		s.rules = append(s.rules, r)
		s.byName[p.Name] = r
		s.slots = s.slots || slices.ContainsFunc(r.plans, (*Plan).Concurrency)
	}
	if err := join(faults); err != nil {
		return nil, err
	}
	s.index = newIndex(s.rules)
	return s, nil
}

// Policies returns the policies in configured order, for reading only.
func (s *Set) Policies() []Policy { return s.policies }

// Concurrency reports whether any policy has a limit with slots for leases, in
// a tier perhaps.
func (s *Set) Concurrency() bool { return s.slots }

// Names returns the policies' names in configured order.
func (s *Set) Names() []string {
	names := make([]string, len(s.policies))
	for i := range s.policies {
		names[i] = s.policies[i].Name
	}
	return names
}
