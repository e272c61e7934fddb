package policy

import "github.com/murmurate/murmurate/limiter"

// slots sets the count and the TTL of a concurrency limit, which has no rate.
func (r *specReader) slots() {
	s := r.spec
	switch {
	case s.Rate != "":
		r.fault("rate", "a concurrency limit has none: write count, and ttl for how long a holder may go without renewing")
	case s.Count == nil:
		r.fault("count", "is required: how many may be at it at once")
	default:
		r.limit.Count = *s.Count
	}
	if s.Period != "" {
		r.fault("period", "a concurrency limit has no period: write ttl for how long a holder may go without renewing")
	}
	if s.Align != "" {
		r.fault("align", "only fixed_window and quota have windows to align")
	}
	r.limit.Period = limiter.DefaultTTL
	if s.TTL == "" {
		return
	}
	ttl, err := ParsePeriod(s.TTL)
	if err != nil {
		r.fault("ttl", "%v", err)
		return
	}
	r.limit.Period = ttl.Length
}
