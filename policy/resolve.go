package policy

import (
	"fmt"
	"net/netip"
	"strings"
)

// Apply finds what r is charged, and appends it to buf: the policy that r
// names, or the limit that it brings, or, if it only has Attributes, every
// policy that they match. Nothing is appended if none does, or with an error;
// the errors are InputErrors. o.Key, o.DefaultKey and o.Cost are r's.
func (s *Set) Apply(buf []Applied, r *Request, o MatchOptions) ([]Applied, error) {
	o.Key, o.DefaultKey, o.Cost = r.Key, r.DefaultKey, r.Cost
	if err := o.check(); err != nil {
		return buf, err
	}
	switch {
	case r.Tier != "" && (r.Policy == "" || r.Limit != nil || r.Attributes != nil):
		return buf, &InputError{Field: "tier", Detail: "is for a policy that is named, and not beside attributes, which say the tier themselves"}
	case r.Limit != nil:
		return inline(buf, r)
	case r.Policy == "" && r.Attributes != nil:
		return s.Match(buf, r.Attributes, o)
	}
	rules, known := s.byName[r.Policy]
	if !known {
		return buf, s.unknown(r.Policy)
	}
	if r.Attributes == nil {
		if o.Key == "" {
			o.Key = o.DefaultKey
		}
		return rules.keyed(buf, &o, r.Tier)
	}
	v := see(r.Attributes)
	_ = rules.match.fails(&v) // it is named, so it applies; but its path has captures
	a, err := rules.apply(&v, &o)
	if err != nil {
		return buf, err
	}
	return append(buf, a), nil
}

// Validate returns an InputError if r is wrong whatever the policies say of
// it. [Set.Apply] does so too.
func (r *Request) Validate() error {
	o := MatchOptions{Key: r.Key, DefaultKey: r.DefaultKey, Cost: r.Cost}
	return o.check()
}

// keyed is a check that gives a key and says nothing of a request, so that
// there is nothing to match or to exempt. tier is as in [Request].
func (r *rules) keyed(buf []Applied, o *MatchOptions, tier string) ([]Applied, error) {
	p := r.plans[0].policy
	plan, known := r.tiers[tier] // without tiers, or of none, the policy's own
	if tier != "" && !known {
		return buf, r.unknownTier(tier)
	}
	a := Applied{Plan: r.plans[plan], Key: o.Key, Cost: o.Cost, Tier: tier}
	if a.Cost == 0 {
		a.Cost = p.cost()
	}
	if r.key.shared() {
		v := view{Attributes: nothing{}}
		a.Key = r.key.of(&v)
	} else if err := CheckKey(o.Key); err != nil {
		return buf, err
	}
	r.override(&a, plan, o)
	return append(buf, a), nil
}

// unknownTier is the error of a tier that the policy does not have.
func (r *rules) unknownTier(name string) error {
	p := r.plans[0].policy
	names := p.TierNames()
	if len(names) == 0 {
		return &InputError{Field: "tier", Detail: fmt.Sprintf("policy %q has no tiers: leave it out", p.Name)}
	}
	return &InputError{Field: "tier", Detail: fmt.Sprintf("must be a tier of policy %q (%s), got %q%s",
		p.Name, strings.Join(names, ", "), clip(name), didYouMean(name, names))}
}

// inline is the limit that r brings.
func inline(buf []Applied, r *Request) ([]Applied, error) {
	if r.Policy != "" {
		return buf, &InputError{Field: "policy", Detail: "must be empty when the check brings its own limit"}
	}
	if err := CheckKey(r.Key); err != nil {
		return buf, err
	}
	plan, err := inlinePlan(*r.Limit)
	if err != nil {
		return buf, err
	}
	return append(buf, Applied{Plan: plan, Key: r.Key, Cost: max(r.Cost, 1)}), nil
}

// nothing is a request that says nothing of itself.
type nothing struct{}

func (nothing) Method() string       { return "" }
func (nothing) Host() string         { return "" }
func (nothing) Path() string         { return "" }
func (nothing) Addr() netip.Addr     { return netip.Addr{} }
func (nothing) IPKey() string        { return "" }
func (nothing) Header(string) string { return "" }
func (nothing) Cookie(string) string { return "" }
func (nothing) Query(string) string  { return "" }
func (nothing) Attr(string) string   { return "" }

func (nothing) Repeats(KeyKind, string) []string { return nil }
