package policy

import (
	"cmp"

	"github.com/murmurate/murmurate/limiter"
)

// LimitLike is the limit that s describes where it takes the place of own.
// What s does not say is as own has it, where the limit can have it at all:
// algorithm, ttl, unit, durable, time zone and anchor, and where its windows
// begin if own's are as long, or begin with the first call. Only the burst is
// always that of s. So it counts as own does, only more or less. The errors are
// those of [LimitSpec.Limit].
func (s *LimitSpec) LimitLike(own *limiter.Limit) (limiter.Limit, error) {
	spec := *s
	spec.Algorithm = cmp.Or(s.Algorithm, own.Algorithm.String())
	return spec.read(own)
}

// inherit has the limit be as own where the spec says nothing.
func (r *specReader) inherit(own *limiter.Limit) {
	s, l := r.spec, &r.limit
	switch {
	case !hasSlots(*l):
		if s.Unit == "" {
			l.Unit = own.Unit
		}
	case hasSlots(*own) && s.TTL == "":
		l.Period = own.Period
	}
	if !l.Algorithm.Windowed() || !own.Algorithm.Windowed() {
		return
	}
	if s.Durable == nil {
		l.Durable = own.Durable
	}
	if s.Align == "" && (l.Period == own.Period || own.Align == limiter.AlignFirst) {
		l.Align, l.Calendar = own.Align, own.Calendar
	}
	if s.Timezone == "" && l.Align == limiter.AlignCalendar {
		l.Zone = own.Zone
	}
	if s.Anchor == nil && l.Calendar == limiter.Month {
		l.Anchor = own.Anchor
	}
}
