package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// PolicySet is the policies of c, ready for use. Its error is [*Faults]; a
// Config from [Load] has none.
func (c *Config) PolicySet() (*policy.Set, error) {
	set, faults := c.policies(origins(&document{}, nil))
	if len(faults) > 0 {
		list := make([]Fault, len(faults))
		for i, f := range faults {
			list[i] = Fault{Path: f.Field, Detail: f.Detail}
		}
		return nil, &Faults{List: list}
	}
	return set, nil
}

// policies builds the policies and judges them, as far as their values could
// be read.
func (c *Config) policies(o *origin) (*policy.Set, []*policy.InputError) {
	var faults []*policy.InputError
	built := make([]policy.Policy, len(c.Policies))
	for i := range c.Policies {
		b := builder{path: fmt.Sprintf("policies[%d]", i), origin: o, keeps: c.Node.DataDir != "" || c.Cluster.Role == string(cluster.RoleClient)}
		built[i] = b.build(&c.Policies[i])
		faults = append(faults, b.faults...)
	}
	set, err := policy.NewSet(built...)
	faults = append(faults, policy.InputErrors(err)...)
	return set, slices.DeleteFunc(faults, func(f *policy.InputError) bool { return o.follows(f.Field) })
}

// Warnings are what works as it is written and is likely not meant, with the
// places in the file. Only Load finds them.
func (c *Config) Warnings() []Fault { return c.warnings }

// policyWarnings are the warnings of the policies, which are valid.
func (c *Config) policyWarnings() []problem {
	set, err := c.PolicySet()
	if err != nil {
		return nil
	}
	bits := policy.AddressBits{IPv4: c.HTTP.IPv4Prefix, IPv6: c.HTTP.IPv6Prefix}
	var warnings []problem
	for i := range set.Policies() {
		for _, w := range set.Policies()[i].Warnings(bits) {
			warnings = append(warnings, problem{path: fmt.Sprintf("policies[%d].%s", i, w.Field), detail: w.Detail})
		}
	}
	return warnings
}

// builder turns the text of one policy into a policy.
type builder struct {
	path   string
	origin *origin
	keeps  bool // the node has a place for durable counters, or owns none
	faults []*policy.InputError
}

func (b *builder) fault(field, format string, args ...any) {
	b.faults = append(b.faults, &policy.InputError{Field: b.path + "." + field, Detail: fmt.Sprintf(format, args...)})
}

func (b *builder) build(written *Policy) policy.Policy {
	p := policy.Policy{
		Name:     written.Name,
		Match:    written.Match,
		Key:      written.Key,
		Limits:   b.limits("limits", written.Limits, written.Durable),
		Tiers:    policy.Tiers{By: written.Tiers.By},
		Exempt:   written.Exempt,
		Cost:     b.cost(&written.Cost),
		Shadow:   written.Shadow,
		Cooldown: written.Cooldown,
	}
	for i, set := range written.Tiers.Sets {
		limits := b.limits(fmt.Sprintf("tiers.sets[%d].limits", i), set.Limits, written.Durable)
		p.Tiers.Sets = append(p.Tiers.Sets, policy.TierSet{Name: set.Name, Limits: limits})
	}
	for i, o := range written.Overrides {
		p.Overrides = append(p.Overrides, policy.Override{
			Key: o.Key, KeyPrefix: o.KeyPrefix, Unlimited: o.Unlimited, Blocked: o.Blocked,
			Limits: b.limits(fmt.Sprintf("overrides[%d].limits", i), o.Limits, written.Durable),
		})
	}
	if written.Durable != nil && *written.Durable && noneCanBeDurable(written) {
		b.fault("durable", "none of the policy's limits can be durable: only fixed_window and quota can")
	}
	if mode := written.OnUnreachable; mode != "" {
		var ok bool
		if p.OnUnreachable, ok = policy.ParseUnreachable(mode); !ok {
			b.fault("on_unreachable", "%v", choose(mode, failureModes...))
		}
	}
	if status := written.DenyStatus; status != nil {
		if p.DenyStatus = *status; *status == 0 { // which would be the default
			b.fault("deny_status", "must be an HTTP status from 400 to 599, got 0")
		}
	}
	return p
}

// noneCanBeDurable reports whether every limit of the policy, of its tiers and
// overrides too, counts in another way than durable counters do. One whose
// algorithm could not be read might.
func noneCanBeDurable(written *Policy) bool {
	all := slices.Clone(written.Limits)
	for i := range written.Tiers.Sets {
		all = append(all, written.Tiers.Sets[i].Limits...)
	}
	for i := range written.Overrides {
		all = append(all, written.Overrides[i].Limits...)
	}
	return len(all) > 0 && !slices.ContainsFunc(all, func(s policy.LimitSpec) bool {
		algorithm, known := limiter.ParseAlgorithm(s.Algorithm)
		return !known || algorithm.Windowed()
	})
}

// standIn takes the place of a limit that cannot be used, so that the policy
// around it can still be judged. Like any of count 0, it bounds no cost.
var standIn = limiter.Limit{Algorithm: limiter.SlidingWindow, Period: time.Second}

// limits are those written in the list at path. Those that do not say are
// durable as the policy says, if they can be; if it does not either, quotas
// are.
func (b *builder) limits(path string, specs []policy.LimitSpec, durable *bool) []limiter.Limit {
	limits := make([]limiter.Limit, len(specs))
	for i := range specs {
		spec, at := &specs[i], fmt.Sprintf("%s[%d]", path, i)
		limit, err := spec.Limit()
		// Without a burst that could not be read the limit holds too little.
		if err != nil || b.origin.unsound(b.path+"."+at+".burst") {
			limit = standIn
			limit.Name = spec.Name
		}
		switch {
		case spec.Durable != nil:
		case durable != nil:
			limit.Durable = *durable && limit.Algorithm.Windowed()
		default:
			limit.Durable = limit.Algorithm == limiter.Quota
		}
		if limit.Durable && !b.keeps {
			b.fault(at+".durable", "needs node.data_dir, a directory in which the counter outlives the node; or write durable: false, and it starts afresh with the node")
		}
		limits[i] = limit
		for _, f := range policy.InputErrors(err) {
			b.fault(at+"."+f.Field, "%s", f.Detail)
		}
	}
	return limits
}

func (b *builder) cost(written *Cost) policy.Cost {
	cost := policy.Cost{ByMethod: written.ByMethod, Attr: written.Attr}
	if given := written.Default; given != nil {
		switch {
		case *given < 1:
			b.fault("cost.default", "must be at least 1, got %d", *given)
		case *given > limiter.MaxCount:
			b.fault("cost.default", "must be at most %d, which is the most that a limit can hold", int64(limiter.MaxCount))
		default:
			cost.Default = *given
		}
	}
	return cost
}
