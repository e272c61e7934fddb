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
	set, faults := c.policies(func(string) bool { return false })
	if len(faults) > 0 {
		list := make([]Fault, len(faults))
		for i, f := range faults {
			list[i] = Fault{Path: f.Field, Detail: f.Detail}
		}
		return nil, &Faults{List: list}
	}
	return set, nil
}

// policies builds the policies and judges them. unsound is that of an origin.
func (c *Config) policies(unsound func(path string) bool) (*policy.Set, []*policy.InputError) {
	var faults []*policy.InputError
	built := make([]policy.Policy, len(c.Policies))
	for i := range c.Policies {
		b := builder{path: fmt.Sprintf("policies[%d]", i), unsound: unsound}
		built[i] = b.build(&c.Policies[i])
		faults = append(faults, b.faults...)
	}
	set, err := policy.NewSet(built...)
	faults = append(faults, policy.InputErrors(err)...)
	return set, faults
}

// builder turns the text of one policy into a policy.
type builder struct {
	path    string
	unsound func(path string) bool
	faults  []*policy.InputError
}

func (b *builder) fault(field, format string, args ...any) {
	b.faults = append(b.faults, &policy.InputError{Field: b.path + "." + field, Detail: fmt.Sprintf(format, args...)})
}

// standIn takes the place of a limit that cannot be used, so that the policy
// around it can still be judged. Like any of count 0, it bounds no cost.
var standIn = limiter.Limit{Algorithm: limiter.SlidingWindow, Period: time.Second}

func (b *builder) build(written *Policy) policy.Policy {
	p := policy.Policy{Name: written.Name, Shadow: written.Shadow, Limits: make([]limiter.Limit, len(written.Limits))}
	for i := range written.Limits {
		spec := &written.Limits[i]
		limit, err := spec.Limit()
		// Without a burst that could not be read the limit holds too little.
		if err != nil || b.unsound(fmt.Sprintf("%s.limits[%d].burst", b.path, i)) {
			limit = standIn
			limit.Name = spec.Name
		}
		p.Limits[i] = limit
		for _, f := range policy.InputErrors(err) {
			b.fault(fmt.Sprintf("limits[%d].%s", i, f.Field), "%s", f.Detail)
		}
	}
	if cost := written.Cost.Default; cost != nil {
		switch {
		case *cost < 1:
			b.fault("cost.default", "must be at least 1, got %d", *cost)
		case *cost > limiter.MaxCount:
			b.fault("cost.default", "must be at most %d, which is the most that a limit can hold", int64(limiter.MaxCount))
		default:
			p.Cost.Default = *cost
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
