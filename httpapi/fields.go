package httpapi

import (
	"strings"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// limitFields is one limit as the fields show it.
type limitFields struct {
	name       string // without its policy, as long as that is unambiguous
	unit       string // empty: requests
	quota      int64
	window     time.Duration // 0: none
	remaining  int64
	nextUnit   time.Duration // limiter.Never: not a matter of time
	retryAfter time.Duration // limiter.Never: waiting does not help
	allowed    bool
	uncounted  bool // nobody counted: what remains is not known
	shadow     bool // it only observes
}

// fieldsOf appends the limits of d to buf.
func fieldsOf(buf []limitFields, d *policy.Decision) []limitFields {
	for i := range d.Limits {
		l := &d.Limits[i]
		buf = append(buf, limitFields{
			name:       shortName(d.Limits, i),
			unit:       l.Unit,
			quota:      l.Limit,
			window:     l.Window,
			remaining:  l.Remaining,
			nextUnit:   l.NextUnit,
			retryAfter: l.RetryAfter,
			allowed:    l.Allowed,
			uncounted:  l.Source == limiter.SourceFailOpen || l.Source == limiter.SourceFailClosed,
			shadow:     l.Shadow,
		})
	}
	return buf
}

// shortName is the name of limits[i] without its policy, or policy.limit if
// another one of limits has that name too.
func shortName(limits []policy.LimitResult, i int) string {
	full := limits[i].Name
	short := plainName(full)
	for j := range limits {
		if j != i && plainName(limits[j].Name) == short {
			return strings.Replace(full, "/", ".", 1)
		}
	}
	return short
}

func plainName(full string) string {
	return full[strings.IndexByte(full, '/')+1:]
}

// until is the seconds until more of l becomes available, rounded up: t of
// RateLimit, and RateLimit-Reset. A violated limit never names a later time
// than Retry-After does. ok is false if time brings nothing.
func (l *limitFields) until() (seconds int64, ok bool) {
	if l.nextUnit < 0 {
		return 0, false
	}
	seconds = ceil(l.nextUnit, time.Second)
	if !l.allowed && l.retryAfter >= 0 {
		seconds = min(seconds, max(1, ceil(l.retryAfter, time.Second)))
	}
	return seconds, true
}

// closest is the limit that is closest to denying: as for the numbers at the
// top of a decision, a denial comes before an admission, the longer wait
// before the shorter, fewer remaining before more. Limits in shadow stand back
// behind others. nil: none was counted.
func closest(limits []limitFields) *limitFields {
	var found *limitFields
	for i := range limits {
		l := &limits[i]
		if !l.uncounted && (found == nil || l.closer(found)) {
			found = l
		}
	}
	return found
}

func (l *limitFields) closer(than *limitFields) bool {
	if l.shadow != than.shadow {
		return than.shadow
	}
	if l.allowed != than.allowed {
		return than.allowed
	}
	if l.allowed || l.retryAfter == than.retryAfter {
		return l.remaining < than.remaining
	}
	return uint64(l.retryAfter) > uint64(than.retryAfter) // limiter.Never, -1, is the longest
}
