package limiter

import "time"

// sliding is the state of a sliding window: the units used in the window
// that begins at start (a multiple of the period since the Unix epoch), and
// in the one before it.
type sliding struct{ start, current, previous int64 }

// at is the state as seen from the window that begins at start.
func (w sliding) at(start, period int64) sliding {
	switch {
	case w.current|w.previous == 0:
		return sliding{start: start}
	case w.start >= start: // never later, as a table's clock does not run back
		return w
	case w.start == start-period:
		return sliding{start: start, previous: w.current}
	default:
		return sliding{start: start}
	}
}

// less is the state with units less in the window that begins at start, or
// as it is if that is past.
func (w sliding) less(units, start, period int64) sliding {
	switch start {
	case w.start:
		w.current -= min(units, w.current)
	case w.start - period:
		w.previous -= min(units, w.previous)
	}
	return w
}

// slidingWindow: the last period is estimated as the units of the current
// window, and of the previous one the part that the last period still
// covers, as if they had been spread evenly. A call passes if the estimate
// and its cost stay within the count.
func slidingWindow(s state, q *request, r *Result) state {
	t, now := q.limit.terms(), q.now.Wall
	period := int64(t.period)
	w := sliding{s.a, s.b, s.c}.at(epochStart(now, period), period)
	into := uint64(max(now-w.start, 0))

	*r = Result{Limit: q.limit.Count}
	if q.units() > t.count {
		r.RetryAfter = Never
	} else {
		r.RetryAfter = w.wait(into, q.units(), t)
		r.Allowed = r.RetryAfter == 0
	}
	if r.Allowed && q.charges() {
		w.current += q.cost
		s = state{w.start, w.current, w.previous}
	}

	switch {
	case w.current > 0:
		r.ResetAfter = time.Duration(2*t.period - into)
	case w.previous > 0:
		r.ResetAfter = time.Duration(t.period - into)
	}
	r.Remaining = w.remaining(into, t)
	switch {
	case t.count == 0:
		r.NextUnit = Never
	case r.ResetAfter > 0:
		r.NextUnit = w.wait(into, uint64(r.Remaining)+1, t)
	}
	return s
}

// remaining is how many units fit beside the estimate, into ns after the
// window's start.
func (w sliding) remaining(into uint64, t terms) int64 {
	covered, rest := product(uint64(w.previous), t.period-into).quoRem(t.period)
	if rest > 0 {
		covered++
	}
	return remaining(t.count, covered+uint64(w.current))
}

// wait is the time until ask units, at most the count, fit beside the
// estimate. The estimate only falls while nothing is charged, and is
// continuous where windows meet, so the first such instant is found in this
// window or in the next.
func (w sliding) wait(into, ask uint64, t terms) time.Duration {
	room := t.count - ask // what the estimate may be at most
	current, previous := uint64(w.current), uint64(w.previous)
	if current <= room {
		return time.Duration(max(fadesAt(previous, room-current, t.period), into) - into)
	}
	return time.Duration(t.period - into + fadesAt(current, room, t.period))
}

// fadesAt is the first time in a window, in ns after its start, at which the
// units of the window before it count as at most room.
func fadesAt(units, room, period uint64) uint64 {
	if units <= room {
		return 0
	}
	covered, _ := product(room, period).quoRem(units) // less than the period
	return period - covered
}
