package policy

import "github.com/murmurate/murmurate/limiter"

// LimitLike is the limit that s describes where it takes the place of own. An
// s without algorithm has that of own, and over the same period own's windows
// too, or own's ttl, unless it says anything of them: it then counts as own
// does, only more or less. The errors are those of [LimitSpec.Limit].
func (s *LimitSpec) LimitLike(own *limiter.Limit) (limiter.Limit, error) {
	if s.Algorithm != "" {
		return s.Limit()
	}
	spec := *s
	spec.Algorithm = own.Algorithm.String()
	l, err := spec.Limit()
	if err == nil && hasSlots(l) && s.TTL == "" {
		l.Period = own.Period
	}
	if err == nil && l.Period == own.Period && s.Align == "" && s.Timezone == "" && s.Anchor == nil {
		l.Align, l.Calendar, l.Zone, l.Anchor = own.Align, own.Calendar, own.Zone, own.Anchor
	}
	return l, err
}
