package policy

import (
	"strings"

	"github.com/murmurate/murmurate/limiter"
)

// slots sets the count and the TTL of a concurrency limit, which has no rate.
func (r *specReader) slots() {
	s := r.spec
	switch {
	case s.Rate != "" && s.Count != nil:
		r.fault("rate", "give either rate or count, not both")
	case strings.Contains(s.Rate, "/"):
		r.fault("rate", "a concurrency limit has no period: write the count alone, and ttl for how long a holder may go without renewing")
	case s.Rate != "":
		n, err := ParseSize(s.Rate)
		if err != nil {
			r.fault("rate", "the count %v", err)
		}
		r.limit.Count = n
	case s.Count == nil:
		r.fault("count", "is required: how many may be at it at once")
	default:
		r.limit.Count = *s.Count
	}
	if s.Period != "" {
		r.fault("period", "a concurrency limit has no period: write ttl for how long a holder may go without renewing")
	}
	if s.Align != "" {
		r.fault("align", "only fixed_window has windows to align")
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
