package config

import (
	"fmt"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// PolicySet is the policies of c, ready for use. Its error is [*Faults]; a
// Config from [Load] has none.
func (c *Config) PolicySet() (*policy.Set, error) {
	set, faults := c.policies()
	if len(faults) > 0 {
		list := make([]Fault, len(faults))
		for i, f := range faults {
			list[i] = Fault{Path: f.Field, Detail: f.Detail}
		}
		return nil, &Faults{List: list}
	}
	return set, nil
}

func (c *Config) policies() (*policy.Set, []*policy.InputError) {
	var faults []*policy.InputError
	built := make([]policy.Policy, len(c.Policies))
	for i := range c.Policies {
		b := builder{path: fmt.Sprintf("policies[%d]", i)}
		built[i] = b.build(&c.Policies[i])
		faults = append(faults, b.faults...)
	}
	set, err := policy.NewSet(built...)
	return set, append(faults, policy.InputErrors(err)...)
}

// builder turns the text of one policy into a policy.
type builder struct {
	path   string
	faults []*policy.InputError
}

func (b *builder) fault(field, format string, args ...any) {
	b.faults = append(b.faults, &policy.InputError{Field: b.path + "." + field, Detail: fmt.Sprintf(format, args...)})
}

// standIn takes the place of a limit that cannot be used, so that the policy
// around it can still be judged.
var standIn = limiter.Limit{Algorithm: limiter.SlidingWindow, Count: 1, Period: time.Second}

func (b *builder) build(written *Policy) policy.Policy {
	p := policy.Policy{Name: written.Name, Shadow: written.Shadow, Limits: make([]limiter.Limit, len(written.Limits))}
	for i := range written.Limits {
		spec := &written.Limits[i]
		limit, err := spec.Limit()
		if err != nil {
			limit = standIn
			limit.Name = spec.Name
		}
		p.Limits[i] = limit
		for _, f := range policy.InputErrors(err) {
			b.fault(fmt.Sprintf("limits[%d].%s", i, f.Field), "%s", f.Detail)
		}
	}
	if cost := written.Cost.Default; cost != nil {
		if *cost < 1 {
			b.fault("cost.default", "must be at least 1, got %d", *cost)
		} else {
			p.Cost = *cost
		}
	}
	if mode := written.OnUnreachable; mode != "" {
		var ok bool
		if p.OnUnreachable, ok = policy.ParseUnreachable(mode); !ok {
			b.fault("on_unreachable", "%v", choose(mode, "local", "allow", "deny"))
		}
	}
	return p
}
