package httpapi

import (
	"slices"
	"strings"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// limitFields is one limit as the fields show it.
type limitFields struct {
	name       string // without its policy, as long as that is unambiguous
	plan       bool   // it is a quota: a denial is not about the rate
	unit       string // the quota unit, empty for requests
	quota      int64
	window     time.Duration // 0: none
	remaining  int64
	nextUnit   time.Duration // limiter.Never: not a matter of time
	retryAfter time.Duration // limiter.Never: waiting does not help
	allowed    bool
	uncounted  bool // nobody counted: what remains is not known
	cooling    bool // a cool-down denies
}

// fieldsOf appends the limits of d to buf, but for those in shadow: a client
// that slowed down for a limit that nobody enforces would be limited by it.
func fieldsOf(buf []limitFields, d *policy.Decision) []limitFields {
	for i := range d.Limits {
		l := &d.Limits[i]
		if l.Shadow {
			continue
		}
		buf = append(buf, limitFields{
			name:       shortName(d.Limits, i),
			plan:       l.Algorithm == limiter.Quota,
			unit:       quotaUnit(l.Unit),
			quota:      l.Limit,
			window:     l.Window,
			remaining:  l.Remaining,
			nextUnit:   l.NextUnit,
			retryAfter: l.RetryAfter,
			allowed:    l.Allowed,
			cooling:    l.Cooling,
			uncounted:  uncounted(l.Source),
		})
	}
	return buf
}

// quotaUnit is the value of qu in RateLimit-Policy, which requests go without.
// The draft names those of bytes and of concurrent requests; it has none for
// tokens.
func quotaUnit(u limiter.Unit) string {
	switch u {
	case limiter.Requests:
		return ""
	case limiter.Bytes:
		return "content-bytes"
	default:
		return u.String()
	}
}

// shortName is the name of limits[i] without its policy, or policy.limit if
// another one of limits that is shown has that name too.
func shortName(limits []policy.LimitResult, i int) string {
	full := limits[i].Name
	short := plainName(full)
	for j := range limits {
		if j != i && !limits[j].Shadow && plainName(limits[j].Name) == short {
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

// maxShown is how many limits the fields tell of at most. Proxies and clients
// bound the header of an answer, by 4 or 8 KiB often, and what they then do is
// not to deny: 16 limits with the longest names and numbers make less than 7.
const maxShown = 16

// shown are those of limits that are closest to denying, in the same order.
func shown(limits []limitFields) []limitFields {
	if len(limits) <= maxShown {
		return limits
	}
	ranked := slices.Clone(limits)
	slices.SortStableFunc(ranked, func(a, b limitFields) int {
		switch {
		case a.closer(&b):
			return -1
		case b.closer(&a):
			return 1
		}
		return 0
	})
	return slices.DeleteFunc(slices.Clone(limits), func(l limitFields) bool { return !slices.Contains(ranked[:maxShown], l) })
}

// closest is the limit that is closest to denying: as for the numbers at the
// top of a decision, a denial comes before an admission, the longer wait
// before the shorter, fewer remaining before more. nil: none was counted.
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
	if l.allowed != than.allowed {
		return than.allowed
	}
	if l.allowed || l.retryAfter == than.retryAfter {
		return l.remaining < than.remaining
	}
	return uint64(l.retryAfter) > uint64(than.retryAfter) // limiter.Never, -1, is the longest
}
