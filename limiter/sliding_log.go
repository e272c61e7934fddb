package limiter

import "time"

// slidingLog: the units admitted in (now - period, now] stay within the
// count. The log must have been trimmed to that interval, so an entry leaves
// it at exactly one period of age. The answer describes g as it is, and as if
// the held units had been charged this instant.
func (s *logSlab) slidingLog(g callLog, q *request, r *Result) {
	t, now := q.limit.terms(), q.now.Mono
	*r = Result{Limit: q.limit.Count}
	used := uint64(g.units + q.held)
	switch {
	case q.units() > t.count:
		r.RetryAfter = Never
	case used+q.units() > t.count:
		r.RetryAfter = s.waitFor(g, int64(used+q.units()-t.count), now, t)
		r.Contended = uint64(g.units)+q.units() <= t.count
	default:
		r.Allowed = true
	}
	r.Remaining = remaining(t.count, used)
	switch {
	case t.count == 0:
		r.NextUnit = Never
	case used > 0:
		r.NextUnit = s.waitFor(g, int64(used-t.count+1+uint64(r.Remaining)), now, t)
	}
	switch {
	case q.held > 0:
		r.ResetAfter = time.Duration(t.period)
	case used > 0:
		r.ResetAfter = time.Duration(s.newestAt(g) + int64(t.period) - now)
	}
}
