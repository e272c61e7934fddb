package limiter

import "time"

// fixedWindow: count units per window. The state is the units used and the
// end of the window they were used in; once that has come the counter is
// unused. Keeping the end, and not a window number, serves all alignments
// alike, spares all but a window's first charge the calendar, and lets a
// window that is open end as it began when its limit's alignment changes.
func fixedWindow(s state, q *request, r *Result) state {
	t, now := q.limit.terms(), q.now.Wall
	used, end := uint64(s.a), s.b
	if now >= end {
		used = 0
	}
	*r = Result{Limit: q.limit.Count}
	switch {
	case q.units() > t.count:
		r.RetryAfter = Never
	case used+q.units() > t.count: // neither exceeds MaxCount by now
		r.RetryAfter = time.Duration(end - now)
	default:
		r.Allowed = true
		if q.charges() {
			if used == 0 {
				end = q.limit.windowEnd(now)
			}
			used += q.units()
			s = state{a: int64(used), b: end}
		}
	}
	r.Remaining = remaining(t.count, used)
	if used > 0 {
		r.ResetAfter = time.Duration(end - now)
	}
	r.NextUnit = r.ResetAfter
	if t.count == 0 {
		r.NextUnit = Never
	}
	return s
}

// windowEnd is the end of the window that contains wall, or that a first
// charge at wall opens.
func (l *Limit) windowEnd(wall int64) int64 {
	period := int64(l.terms().period)
	switch l.Align {
	case AlignCalendar:
		_, end := l.calendarWindow(wall)
		return end
	case AlignFirst:
		return wall + period
	default:
		return epochStart(wall, period) + period
	}
}

// epochStart is the last multiple of period, counted from the Unix epoch,
// that is not after wall.
func epochStart(wall, period int64) int64 {
	into := wall % period
	if into < 0 {
		into += period
	}
	return wall - into
}
