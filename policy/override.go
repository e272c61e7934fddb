package policy

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/murmurate/murmurate/limiter"
)

// Override gives one key, or those with a prefix, other limits, or none, or
// nothing at all. It wins over tiers. An exact key wins over prefixes, and
// among those the longest.
type Override struct {
	// Key is the whole key: as a check gives it, or as the policy makes it
	// ("header:x-api-key=secret"). Where the policy makes it of one entry, the
	// value alone ("secret") is enough, and means the entry's first
	// alternative. A lone address means the key of that one address
	// (ip=203.0.113.9/32).
	Key string
	// KeyPrefix is the beginning of a key, in the same forms. Exactly one of
	// Key and KeyPrefix is set.
	KeyPrefix string
	// Limits take the place of the limits of the same name, of the tier or
	// else of the policy. Exactly one of Limits, Unlimited and Blocked is set.
	Limits []limiter.Limit
	// Unlimited admits without counting.
	Unlimited bool
	// Blocked denies.
	Blocked bool
}

// override is an Override made ready.
type override struct {
	*Override
	place string  // in the policy
	plans []*Plan // with Limits, by tier as in rules.plans; nil without
}

// overrides finds the one that a key has.
type overrides struct {
	exact    map[string]*override
	prefixes map[string]*override
	lengths  []int // of the prefixes, the longest first
}

// compileOverrides makes p's overrides ready. The tiers are.
func (r *rules) compileOverrides(p *Policy, fault faultFunc) {
	t := &r.overrides
	t.exact, t.prefixes = make(map[string]*override), make(map[string]*override)
	for i := range p.Overrides {
		o := &override{Override: &p.Overrides[i], place: indexed("overrides", i)}
		o.faults(p, fault.under(o.place))
		switch {
		case likeFingerprint(o.Key):
			fault(o.place+".key", "must be the key itself, not a fingerprint: give that to murmurate override set while the nodes run; "+
				"a key that reads so is written as the policy makes it, such as header:x-api-key=%sVALUE", fingerprintMark)
		case fingerprint(o.KeyPrefix):
			fault(o.place+".key_prefix", "must be the beginning of keys: which of them begin alike is not to be seen from fingerprints")
		}
		if len(o.Limits) > 0 {
			fitsAll(p.Cost.Default, o.Limits, p.Name, "cost.default", func(field, format string, args ...any) {
				fault(field, format+" in %s", append(args, o.place)...)
			})
			o.plans = r.replacing(func(p *Policy) []limiter.Limit { return replaced(p, o.Limits) })
		}
		table, written, field := t.exact, o.Key, "key"
		if o.KeyPrefix != "" {
			table, written, field = t.prefixes, o.KeyPrefix, "key_prefix"
		}
		for _, key := range r.key.spellings(written, o.Key != "") {
			if o.KeyPrefix != "" && len(key) > uncutBytes {
				fault(o.place+"."+field, "must be at most %d bytes as it stands in keys: the end of long keys is not kept", uncutBytes)
				break
			}
			if other := table[key]; other != nil {
				fault(o.place+"."+field, "is in %s already", other.place) // keys stay out of logs
				break
			}
			table[key] = o
		}
	}
	for prefix := range t.prefixes {
		t.lengths = append(t.lengths, len(prefix))
	}
	slices.SortFunc(t.lengths, func(a, b int) int { return cmp.Compare(b, a) })
	t.lengths = slices.Compact(t.lengths)
}

// replacing are the plans of r with the limits that instead has for each.
func (r *rules) replacing(instead func(of *Policy) []limiter.Limit) []*Plan {
	p, plans := r.plans[0].policy, make([]*Plan, len(r.plans))
	for i, plan := range r.plans {
		plans[i] = newPlan(p.with(instead(plan.policy)))
	}
	return plans
}

// faults judges o as one of p's.
func (o *Override) faults(p *Policy, fault faultFunc) {
	switch {
	case o.Key != "" && o.KeyPrefix != "":
		fault("", "give either key or key_prefix, not both")
	case o.Key == "" && o.KeyPrefix == "":
		fault("", "needs a key, or key_prefix for several: whom it is for")
	}
	effects := 0
	for _, given := range []bool{len(o.Limits) > 0, o.Unlimited, o.Blocked} {
		if given {
			effects++
		}
	}
	switch {
	case effects == 0:
		fault("", "needs limits, or unlimited: true, or blocked: true")
	case effects > 1:
		fault("", "give one of limits, unlimited: true and blocked: true, not several")
	}
	replacingFaults(o.Limits, p, fault)
}

// find is the override of key, or nil.
func (t *overrides) find(key string) *override {
	if o := t.exact[key]; o != nil {
		return o
	}
	for _, length := range t.lengths {
		if length <= len(key) {
			if o := t.prefixes[key[:length]]; o != nil {
				return o
			}
		}
	}
	return nil
}

// spellings are the keys that somebody means who writes key in an override,
// or, if it is not whole, a prefix of one: it, and what k would make of a
// value that reads so.
func (k keyMaker) spellings(key string, whole bool) []string {
	switch {
	case joined(key):
		return []string{bounded(canonical(key, whole))}
	case len(k) != 1 || k[0][0].kind == KeyGlobal:
		return []string{key}
	}
	first := &k[0][0]
	return []string{key, canonical(JoinKey(KeyPart{Kind: first.kind, Name: first.name, Value: key}), whole)}
}

// canonical is a joined key, or a prefix of one, with the names of header
// fields in lower case and whole addresses as keys have them.
func canonical(key string, whole bool) string {
	parts := strings.Split(key, "&")
	for i, part := range parts {
		name, value, found := strings.Cut(part, "=")
		switch {
		case strings.HasPrefix(name, string(KeyHeader)+":"):
			name = strings.ToLower(name)
		case name == string(KeyIP) && (whole || i < len(parts)-1):
			value = addressKey(value)
		}
		if parts[i] = name; found {
			parts[i] += "=" + value
		}
	}
	return strings.Join(parts, "&")
}

// addressKey is an address or a network as keys have them, which is as a
// network. What is neither stays as it is.
func addressKey(written string) string {
	if addr, err := netip.ParseAddr(written); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()).String()
	}
	if network, err := netip.ParsePrefix(written); err == nil {
		return network.String()
	}
	return written
}

// CheckOverride reports every fault of an override that is set while the
// policy is in force, joined, each an [*InputError].
func (s *Set) CheckOverride(policyName string, o *Override) error {
	r, ok := s.byName[policyName]
	if !ok {
		return s.unknown(policyName)
	}
	var faults []*InputError
	fault := appendTo(&faults).under("override")
	p := r.plans[0].policy
	o.faults(p, fault)
	for i := range o.Limits {
		if own := p.LimitNamed(o.Limits[i].Name); o.Limits[i].Durable && own != nil && !own.Durable {
			fault(indexed("limits", i)+".durable", "only a policy says which counters are kept on disk, and this one's limit is not durable: leave it out")
		}
	}
	fitsAll(p.Cost.Default, o.Limits, p.Name, "limits", func(field, format string, args ...any) {
		fault(field, "the policy's cost.default of "+format, args...)
	})
	if o.KeyPrefix != "" {
		fault("key_prefix", "only the configuration has overrides for prefixes: give the whole key")
	}
	return join(faults)
}

// OverrideKeys are the keys that a request of the policy can have if key
// stands in an override: key itself, and as the policy makes it.
func (s *Set) OverrideKeys(policyName, key string) ([]string, error) {
	r, ok := s.byName[policyName]
	if !ok {
		return nil, s.unknown(policyName)
	}
	return r.key.spellings(key, true), nil
}

// LookupKeys are the keys under which checks of the policy may have counted
// whom somebody calls key: key itself, which checks give, and key as the
// policy makes it of a request. A fingerprint is no other key's name. What
// cannot be a key is passed over, but for key itself.
func (s *Set) LookupKeys(policyName, key string) ([]string, error) {
	meant, err := s.OverrideKeys(policyName, key)
	if err != nil {
		return nil, err
	}
	keys := []string{key}
	if fingerprint(key) {
		return keys, nil
	}
	for _, other := range meant {
		if other != key && CheckKey(other) == nil {
			keys = append(keys, other)
		}
	}
	return keys, nil
}
