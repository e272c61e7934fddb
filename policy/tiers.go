package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/murmurate/murmurate/limiter"
)

// Tiers give the requests of some callers other limits. The zero value gives
// none.
type Tiers struct {
	// By is where a request says its tier: attr:NAME or header:NAME, or several
	// with "|" between them, of which the first that it has is taken. A header
	// is as true as whoever sets it: have the gateway in front do so.
	By string
	// Sets are the tiers. A request of none of them, or without a tier, gets
	// the policy's own limits.
	Sets []TierSet
}

// TierSet is one tier.
type TierSet struct {
	// Name is what requests say, exactly, in the form of a policy's name.
	Name string
	// Limits take the place of the policy's limits of the same name, those of
	// concurrency of such. Those of other names stay. A counter stays the same,
	// spent as it is, unless algorithm or period differ.
	Limits []limiter.Limit
}

// TierNames are the names of p's tiers, in configured order.
func (p *Policy) TierNames() []string {
	names := make([]string, len(p.Tiers.Sets))
	for i := range names {
		names[i] = p.Tiers.Sets[i].Name
	}
	return names
}

// compileTiers makes p's tiers ready.
func (r *rules) compileTiers(p *Policy, fault faultFunc) {
	t := &p.Tiers
	if t.By == "" && len(t.Sets) == 0 {
		return
	}
	if t.By == "" {
		fault("tiers.by", "is required beside sets: where a request says its tier, such as header:X-Plan or attr:plan")
	} else {
		r.tierBy = parseTierBy(t.By, fault)
	}
	if len(t.Sets) == 0 {
		fault("tiers.sets", "is required beside by: at least one tier with a name and limits")
	}
	r.tiers = make(map[string]int, len(t.Sets))
	for i := range t.Sets {
		set, path := &t.Sets[i], indexed("tiers.sets", i)
		if !ValidName(set.Name) {
			fault(path+".name", "%s, got %q", NameRule, clip(set.Name))
		}
		if r.tiers[set.Name] > 0 {
			fault(path+".name", "%q is already the name of another tier of this policy", clip(set.Name))
		}
		if len(set.Limits) == 0 {
			fault(path+".limits", "a tier needs at least one limit that replaces one of the policy's")
		}
		replacingFaults(set.Limits, p, fault.under(path))
		limits := replaced(p, set.Limits)
		fitsAll(p.Cost.Default, limits, p.Name, "cost.default", func(field, format string, args ...any) {
			fault(field, format+" in tier %q", append(args, clip(set.Name))...)
		})
		r.tiers[set.Name] = len(r.plans)
		r.plans = append(r.plans, newPlan(p.with(limits)))
	}
}

// parseTierBy reads where a request says its tier.
func parseTierBy(written string, fault faultFunc) keyEntry {
	var by keyEntry
	for alternative := range strings.SplitSeq(written, "|") {
		alternative = strings.TrimSpace(alternative)
		switch s, err := parseSource(alternative, nil); {
		case !strings.HasPrefix(alternative, string(KeyHeader)+":") && !strings.HasPrefix(alternative, string(KeyAttr)+":"):
			fault("tiers.by", "must be header:NAME or attr:NAME, or several with | between them, got %q", clip(alternative))
		case err != nil:
			fault("tiers.by", "%v", err)
		case slices.Contains(by, s):
			fault("tiers.by", "%s is there twice", clip(s.String()))
		default:
			by = append(by, s)
		}
	}
	return by
}

// replacingFaults judges limits that take the place of p's.
func replacingFaults(limits []limiter.Limit, p *Policy, fault faultFunc) {
	names := make([]string, len(p.Limits))
	for i := range names {
		names[i] = p.limitName(&p.Limits[i])
	}
	seen := make(map[string]bool, len(limits))
	for i := range limits {
		l, path := &limits[i], indexed("limits", i)
		name := p.limitName(l)
		switch {
		case !slices.Contains(names, name) && l.Name == "":
			fault(path+".name", "is required: which of the policy's limits it replaces (%s)", strings.Join(names, ", "))
		case !slices.Contains(names, name):
			fault(path+".name", "must be that of one of the policy's limits (%s), got %q%s", strings.Join(names, ", "), clip(name), didYouMean(name, names))
		case seen[name]:
			fault(path+".name", "%q is replaced already", name)
		case l.Algorithm != 0 && hasSlots(*l) != hasSlots(p.Limits[slices.Index(names, name)]):
			fault(path+".algorithm", "only a concurrency limit can take the place of one, and of no other")
		}
		seen[name] = true
		limitFaults(l, fault.under(path))
	}
}

// limitName is the name of a limit of p, or of one that takes its place.
func (p *Policy) limitName(l *limiter.Limit) string { return cmp.Or(l.Name, p.Name) }

// LimitNamed is the limit of p that one of that name would take the place of, or
// nil. An empty name is p's own.
func (p *Policy) LimitNamed(name string) *limiter.Limit {
	l := limiter.Limit{Name: name}
	name = p.limitName(&l)
	for i := range p.Limits {
		if own := &p.Limits[i]; p.limitName(own) == name {
			return own
		}
	}
	return nil
}

// replaced are the limits of p with those in the place of the same name. What
// has none is left out, and what is of another kind: slots are acquired, and
// units are spent.
func replaced(p *Policy, by []limiter.Limit) []limiter.Limit {
	limits := slices.Clone(p.Limits)
	for i := range limits {
		own := limits[i]
		name := p.limitName(&own)
		if j := slices.IndexFunc(by, func(l limiter.Limit) bool { return p.limitName(&l) == name && hasSlots(l) == hasSlots(own) }); j >= 0 {
			limits[i] = by[j]
			limits[i].Name = own.Name
		}
	}
	return limits
}

// with is p with other limits.
func (p *Policy) with(limits []limiter.Limit) *Policy {
	other := *p
	other.Limits = limits
	return &other
}

// tier is the tier of v: the index of its plan, which is 0 if it has none of
// the policy's tiers, and its name. unknown: it has another.
func (r *rules) tier(v *view) (plan int, name string, unknown bool) {
	if r.tiers == nil {
		return 0, "", false
	}
	_, name = r.tierBy.take(v)
	if plan, ok := r.tiers[name]; ok {
		return plan, name, false
	}
	return 0, "", name != ""
}
