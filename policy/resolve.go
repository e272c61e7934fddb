package policy

import "net/netip"

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
		return rules.keyed(buf, &o)
	}
	v := see(r.Attributes)
	_ = rules.match.fails(&v) // it is named, so it applies; but its path has captures
	a, err := rules.apply(&v, &o)
	if err != nil {
		return buf, err
	}
	return append(buf, a), nil
}

// keyed is a check that gives a key and says nothing of a request, so that
// there is nothing to match, to exempt or to have a tier.
func (r *rules) keyed(buf []Applied, o *MatchOptions) ([]Applied, error) {
	p := r.plans[0].policy
	a := Applied{Plan: r.plans[0], Key: o.Key, Cost: o.Cost}
	if a.Cost == 0 {
		a.Cost = p.cost()
	}
	if r.key.shared() {
		v := view{Attributes: nothing{}}
		a.Key = r.key.of(&v)
	} else if err := CheckKey(o.Key); err != nil {
		return buf, err
	}
	r.override(&a, 0, o)
	return append(buf, a), nil
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
