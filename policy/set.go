package policy

import (
	"fmt"
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
	// attributes are the names of those that the policies look at.
	attributes map[string]bool
	slots      bool // see Concurrency
}

// NewSet checks the policies and prepares them for use. Without any, the set
// holds [Default]. Names that differ in case are different names. The error
// joins every fault of every policy, each an [*InputError].
func NewSet(policies ...Policy) (*Set, error) {
	if len(policies) == 0 {
		policies = []Policy{Default()}
	}
	s := &Set{byName: make(map[string]*rules, len(policies))}
	first := make(map[string]int, len(policies)) // the first of each name
	var faults []*InputError
	for i := range policies {
		p := policies[i].clone()
		r := compile(&p, appendTo(&faults).under(indexed("policies", i)))
		if other, taken := first[p.Name]; taken {
			faults = append(faults, &InputError{
				Field:  fmt.Sprintf("policies[%d].name", i),
				Detail: fmt.Sprintf("%q is already the name of another policy", clip(p.Name)),
				Other:  fmt.Sprintf("policies[%d].name", other),
			})
		} else {
			first[p.Name] = i
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
		s.slots = s.slots || r.plans[0].Concurrency()
	}
	if err := join(faults); err != nil {
		return nil, err
	}
	s.index = newIndex(s.rules)
	s.attributes = attributeNames(s.rules)
	return s, nil
}

// Policies returns the policies in configured order, for reading only.
func (s *Set) Policies() []Policy { return s.policies }

// Policy returns the policy of the given name with all limits named, for
// reading only. The error is an ErrUnknownPolicy.
func (s *Set) Policy(name string) (*Policy, error) {
	r, ok := s.byName[name]
	if !ok {
		return nil, s.unknown(name)
	}
	return r.plans[0].policy, nil
}

// Concurrency reports whether any policy has a limit with slots for leases.
func (s *Set) Concurrency() bool { return s.slots }

// Names returns the policies' names in configured order.
func (s *Set) Names() []string {
	names := make([]string, len(s.policies))
	for i := range s.policies {
		names[i] = s.policies[i].Name
	}
	return names
}
