package limiter

import "time"

// concurrency: at most count holders at once. The answer describes the holders
// as they are, in the order in which they lapse, and as if the held units were
// the slots of holders that have just come. A call has one slot, whatever its
// cost.
//
// Times are those that holders need at most: they lapse if nobody renews or
// releases them. Whoever lets go earlier makes room earlier.
func concurrency(holders []holder, q *request, r *Result) {
	count := int(q.limit.terms().count)
	used := len(holders) + int(min(q.held, maxHolds))
	*r = Result{Limit: q.limit.Count, Remaining: int64(max(count-used, 0))}
	switch {
	case count == 0:
		r.RetryAfter, r.NextUnit = Never, Never
	case used >= count:
		r.RetryAfter = lapseOf(holders, used-count, q)
		r.NextUnit = r.RetryAfter
		r.Contended = len(holders) < count
	default:
		r.Allowed = true
		if used > 0 {
			r.NextUnit = lapseOf(holders, 0, q)
		}
	}
	if used > 0 {
		r.ResetAfter = lapseOf(holders, used-1, q)
	}
}

// lapseOf is the time until the i-th holder to lapse does. Those beyond are
// held and not there yet: they would stay for a TTL, and lapse last.
func lapseOf(holders []holder, i int, q *request) time.Duration {
	switch {
	case i < len(holders):
		return time.Duration(holders[i].lapses - q.now.Mono)
	case len(holders) > 0:
		return time.Duration(max(holders[len(holders)-1].lapses-q.now.Mono, int64(q.limit.terms().period)))
	}
	return time.Duration(q.limit.terms().period)
}
