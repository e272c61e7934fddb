package limiter

import (
	"math"
	"time"
	_ "time/tzdata" // zones exist on machines without a zone database
)

// maxOffset bounds how far a zone's clock is from UTC: RFC 8536 section 3.2
// keeps offsets above -25 h and below 26 h.
const maxOffset = int64(26 * time.Hour)

// calendarWindow is the calendar window [start, end) of l that contains
// wall, all in Unix ns.
//
// Windows tile the line: each instant is in exactly one, on days without a
// midnight, with two of them, and where a whole day is left out.
func (l *Limit) calendarWindow(wall int64) (start, end int64) {
	zone := l.Zone
	if zone == nil {
		zone = time.UTC
	}
	switch l.Calendar {
	case Minute:
		return clockWindow(wall, int64(time.Minute), zone)
	case Hour:
		return clockWindow(wall, int64(time.Hour), zone)
	default:
		from, to := dateBounds(latestDate(wall, zone), l.Calendar, l.Anchor)
		return firstReach(from, zone), firstReach(to, zone)
	}
}

// clockWindow is the minute or hour that contains wall, as local clocks show
// it. A window ends early where the zone's offset changes other than at a
// full minute or hour: an hour that is shown twice is two windows, and a
// shift by half an hour leaves a window of half an hour.
func clockWindow(wall, length int64, zone *time.Location) (start, end int64) {
	s := spanAt(wall, zone)
	start = epochStart(wall+s.offset, length) - s.offset
	end = start + length
	for start < s.start { // spans may follow each other with the same offset
		before := spanAt(s.start-1, zone)
		if before.offset != s.offset {
			start = s.start
			break
		}
		s.start = before.start
	}
	for end > s.end {
		after := spanAt(s.end, zone)
		if after.offset != s.offset {
			end = s.end
			break
		}
		s.end = after.end
	}
	return start, end
}

// span is a stretch of time [start, end) in Unix ns during which a zone's
// clock runs at a constant offset, in ns east of UTC.
type span struct{ offset, start, end int64 }

// spanAt is a span that contains wall. It can begin and end where nothing
// changes.
func spanAt(wall int64, zone *time.Location) span {
	t := time.Unix(0, wall).In(zone)
	_, seconds := t.Zone()
	s := span{offset: int64(seconds) * int64(time.Second), start: math.MinInt64, end: math.MaxInt64}
	start, end := t.ZoneBounds()
	if !start.IsZero() && start.Unix() > minClock/int64(time.Second) {
		s.start = start.UnixNano()
	}
	if !end.IsZero() && end.Unix() < maxClock/int64(time.Second) {
		s.end = end.UnixNano()
	}
	if s.end <= wall {
		// Where a zone goes by a rule, ZoneBounds ends its last span of a
		// year after 365 days, also on the last day of a leap year.
		s.end = epochStart(wall, int64(24*time.Hour)) + int64(24*time.Hour)
	}
	s.start = min(s.start, wall)
	return s
}

// A local time is written below as the Unix ns at which a clock in UTC shows
// the same.

// latestDate is the latest local time that the zone's clock has shown up to
// wall. After a clock was put back it stays where it was until the clock
// has caught up, so a date once reached is not left again.
func latestDate(wall int64, zone *time.Location) int64 {
	s := spanAt(wall, zone)
	latest := wall + s.offset
	for s.start > wall-2*maxOffset {
		end := s.start
		s = spanAt(end-1, zone)
		latest = max(latest, end-1+s.offset)
	}
	return latest
}

// firstReach is the first instant at which the zone's clock shows local or
// a later time.
func firstReach(local int64, zone *time.Location) int64 {
	at := local - maxOffset // no clock is this far ahead
	for {
		s := spanAt(at, zone)
		at = max(at, local-s.offset)
		if at < s.end {
			return at
		}
		at = s.end
	}
}

// dateBounds are the midnights, as local times, between which the calendar
// period of the given local time lies.
func dateBounds(local int64, c Calendar, anchor int) (from, to int64) {
	year, month, day := time.Unix(0, local).UTC().Date()
	switch c {
	case Week:
		monday := day - (int(time.Unix(0, local).UTC().Weekday())+6)%7
		return midnight(year, month, monday), midnight(year, month, monday+7)
	case Month:
		if day < anchorDay(year, month, anchor) {
			month--
		}
		return midnight(year, month, anchorDay(year, month, anchor)),
			midnight(year, month+1, anchorDay(year, month+1, anchor))
	case Year:
		return midnight(year, time.January, 1), midnight(year+1, time.January, 1)
	default:
		return midnight(year, month, day), midnight(year, month, day+1)
	}
}

// midnight is the beginning of a date, which need not be in normal form.
func midnight(year int, month time.Month, day int) int64 {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).UnixNano()
}

// anchorDay is the day on which the given month, which may be 0 or 13,
// begins its period: the anchor, or the last day of a shorter month.
func anchorDay(year int, month time.Month, anchor int) int {
	lastDay := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return min(max(anchor, 1), lastDay)
}
