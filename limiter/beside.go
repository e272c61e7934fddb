package limiter

import "time"

// maxSpent bounds what a counter can owe. A confirmed hold is charged
// whatever its limit says, so debts can exceed the capacity, and this keeps
// their sums within the arithmetic.
const maxSpent = 1 << 59

// judgeBeside is [judge] while others hold q.held units of the counter s. It
// answers as if they had been charged this instant, so whatever it admits
// leaves room for them; the state that it returns does not contain them.
func judgeBeside(s state, q *request, r *Result) state {
	if q.held == 0 {
		return judge(s, q, r)
	}
	look := *q
	look.take, look.held = false, 0
	full := charged(s, q, q.held)
	judge(full, &look, r)
	if !r.Allowed {
		var alone Result
		judge(s, &look, &alone)
		r.Contended = alone.Allowed
		return s
	}
	if !q.charges() {
		return s
	}
	delay := r.Delay
	judge(charged(full, q, q.cost), &look, r)
	r.admit(delay)
	return charged(s, q, q.cost)
}

// admit makes r, which describes a counter after a charge, the answer to the
// call that was charged.
func (r *Result) admit(delay time.Duration) {
	r.Allowed, r.Contended, r.Cooling, r.RetryAfter, r.Delay = true, false, false, 0, delay
}

// charged is the counter s, not a sliding log's, after units more, whatever
// the limit of q says.
func charged(s state, q *request, units int64) state {
	t := q.limit.terms()
	units = min(units, maxSpent)
	switch q.limit.Algorithm {
	case TokenBucket, LeakyBucket:
		debt := bucket{s.a, s.b, s.c}.debtAt(q.now.Mono, t).plus(product(uint64(units), t.period))
		spent, fraction := debt.quoRem(t.period)
		return state{int64(min(spent, maxSpent)), int64(fraction), q.now.Mono}
	case SlidingWindow:
		period := int64(t.period)
		w := sliding{s.a, s.b, s.c}.at(epochStart(q.now.Wall, period), period)
		return state{w.start, min(w.current+units, maxSpent), w.previous}
	default:
		if s.a == 0 || q.now.Wall >= s.b {
			s = state{b: q.limit.windowEnd(q.now.Wall)}
		}
		return state{a: min(s.a+units, maxSpent), b: s.b}
	}
}
