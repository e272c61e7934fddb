package policy

import (
	"math/big"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// neverDenies reports whether l admits everything that stricter admits, so
// that beside it l can never deny. False: it may deny, or it is not known.
func neverDenies(l, stricter *limiter.Limit) bool {
	if stricter.Count == 0 { // is there to deny all, and the other for when it goes
		return false
	}
	if hasSlots(*l) || hasSlots(*stricter) { // how long somebody takes is not known
		return hasSlots(*l) && hasSlots(*stricter) && stricter.Count <= l.Count
	}
	if sameWindows(l, stricter) && l.Algorithm != limiter.LeakyBucket {
		return stricter.Count <= l.Count && stricter.Capacity() <= l.Capacity()
	}
	e := envelopeOf(stricter)
	switch l.Algorithm {
	case limiter.TokenBucket:
		return e.burst <= l.Capacity() && e.slowerThan(l)
	case limiter.SlidingLog:
		return e.within(l.Period, l.Count, 0)
	case limiter.SlidingWindow:
		// Of what is admitted in the previous window and the part f of the
		// current one, (1-f) of the first counts and all of the second: at most
		// (1-f)(burst + rate p) + burst + rate f p.
		return e.within(l.Period, l.Count, e.burst)
	case limiter.FixedWindow, limiter.Quota:
		if nested(stricter, l) {
			return product(stricter.Count, int64(l.Period/stricter.Period)).Cmp(big.NewInt(l.Count)) <= 0
		}
		_, longest := windowLengths(l)
		return e.within(longest, l.Count, 0)
	default: // a leaky bucket also says when each call's turn is
		return false
	}
}

// sameWindows reports whether a and b differ in count and burst only.
func sameWindows(a, b *limiter.Limit) bool {
	return a.Algorithm == b.Algorithm && a.Period == b.Period && a.Align == b.Align && a.Calendar == b.Calendar &&
		a.Zone.String() == b.Zone.String() && max(a.Anchor, 1) == max(b.Anchor, 1)
}

// nested reports whether each window of outer is made of whole windows of
// inner.
func nested(inner, outer *limiter.Limit) bool {
	return inner.Algorithm.Windowed() && inner.Align == limiter.AlignEpoch && outer.Align == limiter.AlignEpoch &&
		outer.Period%inner.Period == 0
}

// envelope bounds what a limit admits: in any time t, burst + t x count/period.
type envelope struct {
	burst, count int64
	period       time.Duration
}

func envelopeOf(l *limiter.Limit) envelope {
	shortest, _ := windowLengths(l)
	e := envelope{burst: l.Capacity(), count: l.Count, period: shortest}
	if l.Algorithm.Windowed() || l.Algorithm == limiter.SlidingWindow {
		e.burst = 2 * l.Count // at the end of one window and the beginning of the next
	}
	return e
}

// within reports whether no more than count is admitted in any time t, and
// extra beside it.
func (e *envelope) within(t time.Duration, count, extra int64) bool {
	return product(count-e.burst-extra, int64(e.period)).Cmp(product(e.count, int64(t))) >= 0
}

// slowerThan reports whether l refills at least as fast as e allows.
func (e *envelope) slowerThan(l *limiter.Limit) bool {
	return product(e.count, int64(l.Period)).Cmp(product(l.Count, int64(e.period))) <= 0
}

func product(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

// windowLengths bounds the length of a limit's windows. That of the calendar's
// differs with the month, the year, and the hour that clocks are moved by,
// here taken for two.
func windowLengths(l *limiter.Limit) (shortest, longest time.Duration) {
	const moved = 2 * time.Hour
	shortest, longest = l.Period, l.Period
	switch l.Calendar {
	case limiter.Hour:
		return l.Period / 2, l.Period + moved
	case limiter.Day, limiter.Week:
	case limiter.Month:
		shortest, longest = 28*day, 31*day
	case limiter.Year:
		longest = 366 * day
	default: // all the same, those of minutes too
		return shortest, longest
	}
	return shortest - moved, longest + moved
}
