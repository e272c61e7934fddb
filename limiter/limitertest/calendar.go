package limitertest

import (
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// putBack is more than any zone's clock has ever been put back at once.
const putBack = 26 * time.Hour

// CalendarEnd is the end, in Unix ns, of the calendar window of l that
// contains wall. It looks at the zone's clock, second by second where that
// matters, and knows nothing of the zone's rules, so it takes up to some
// milliseconds.
func CalendarEnd(l *limiter.Limit, wall int64) int64 {
	zone := l.Zone
	if zone == nil {
		zone = time.UTC
	}
	now := time.Unix(0, wall).In(zone)
	switch l.Calendar {
	case limiter.Minute:
		return clockEnd(now, func(t time.Time) bool { return t.Second() == 0 })
	case limiter.Hour:
		return clockEnd(now, func(t time.Time) bool { return t.Minute() == 0 && t.Second() == 0 })
	default:
		return dateEnd(l, now).UnixNano()
	}
}

// dateEnd is the first full second after now at which the clock reaches the
// date of the next window.
func dateEnd(l *limiter.Limit, now time.Time) time.Time {
	next := nextBeginning(l, latestDate(now))
	at := now
	const day = 24 * time.Hour
	for dateOf(at.Add(day + putBack)).Before(next) {
		at = at.Add(day)
	}
	// The first time that the date is reached counts, even if the clock is
	// put back afterwards.
	at = at.Truncate(time.Minute)
	for dateOf(at).Before(next) || !at.After(now) {
		at = at.Add(time.Minute)
	}
	for earlier := at.Add(-time.Second); earlier.After(now) && !dateOf(earlier).Before(next); earlier = at.Add(-time.Second) {
		at = earlier
	}
	return at
}

// clockEnd is the first full second after now at which the clock shows the
// beginning of a window, or was just put forward or back.
func clockEnd(now time.Time, begins func(time.Time) bool) int64 {
	for at := now.Truncate(time.Second).Add(time.Second); ; at = at.Add(time.Second) {
		_, offset := at.Zone()
		_, before := at.Add(-time.Second).Zone()
		if begins(at) || offset != before {
			return at.UnixNano()
		}
	}
}

// dateOf is the date that the clock shows at t, as midnight UTC.
func dateOf(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// latestDate is the latest date that the clock has shown up to t.
func latestDate(t time.Time) time.Time {
	latest := dateOf(t)
	for at := t.Add(-putBack).Truncate(time.Minute); at.Before(t); at = at.Add(time.Minute) {
		if d := dateOf(at); d.After(latest) {
			latest = d
		}
	}
	return latest
}

// nextBeginning is the first date after the given one on which a window
// begins.
func nextBeginning(l *limiter.Limit, date time.Time) time.Time {
	for {
		date = date.AddDate(0, 0, 1)
		if begins(l, date) {
			return date
		}
	}
}

// begins reports whether a window begins on the date.
func begins(l *limiter.Limit, date time.Time) bool {
	switch l.Calendar {
	case limiter.Week:
		return date.Weekday() == time.Monday
	case limiter.Month:
		isLast := date.AddDate(0, 0, 1).Day() == 1
		anchor := max(l.Anchor, 1)
		return date.Day() == anchor || isLast && date.Day() < anchor
	case limiter.Year:
		return date.YearDay() == 1
	default:
		return true
	}
}
