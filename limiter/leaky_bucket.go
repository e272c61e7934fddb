package limiter

// leakyBucket: a queue that is served at count/period. One unit may be in
// service and up to burst may wait, so a call for c units is admitted if
// level + c - 1 <= burst, and its last unit's turn comes after
// (level + c - 1) / rate. The state is the level.
func leakyBucket(s state, q *request, r *Result) state {
	t := q.limit.terms()
	next, level := bucket{s.a, s.b, s.c}.judge(q, t, r)
	if r.Allowed && q.cost > 0 {
		r.Delay = level.plus(product(uint64(q.cost-1), t.period)).durationUp(t.count)
	}
	return state{next.spent, next.fraction, next.last}
}
