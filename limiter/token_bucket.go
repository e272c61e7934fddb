package limiter

// tokenBucket: the bucket holds up to the burst, and a call takes its cost
// out of what is there. The state is what was taken, which drains at
// count/period until the bucket is full again.
func tokenBucket(s state, q *request, r *Result) state {
	next, _ := bucket{s.a, s.b, s.c}.judge(q, q.limit.terms(), r)
	return state{next.spent, next.fraction, next.last}
}
