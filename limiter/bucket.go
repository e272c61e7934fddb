package limiter

import "time"

// bucket is the state that both buckets share: a debt that charges raise and
// that drains at count units per period. Written as whole units and a
// fraction it does not depend on the count or the burst, so those can change
// under it; the period is part of a counter's identity and cannot.
type bucket struct {
	spent    int64 // whole units owed at last
	fraction int64 // of a unit, in 1/period
	last     int64 // Instant.Mono of the last charge
}

// debtAt is what is owed at now, in units of 1/period.
//
// The debt is a whole number of those at every nanosecond, because count
// drains count of them per nanosecond: the arithmetic is exact, and polling
// cannot wear a fraction away.
func (b bucket) debtAt(now int64, t terms) wide {
	debt := product(uint64(b.spent), t.period).plus(wide{lo: uint64(b.fraction)})
	if now <= b.last {
		return debt
	}
	return debt.minus(product(uint64(now-b.last), t.count))
}

func bucketOf(s state) bucket { return bucket{s.a, s.b, s.c} }

func (b bucket) state() state { return state{b.spent, b.fraction, b.last} }

// less is the bucket at now with less debt, in units of 1/period.
func (b bucket) less(debt wide, now int64, t terms) bucket {
	spent, fraction := b.debtAt(now, t).minus(debt).quoRem(t.period)
	return bucket{int64(min(spent, maxSpent)), int64(fraction), now}
}

// judge is the rule of both buckets: a call passes if the debt and its cost
// together stay within the capacity. It also returns the debt before the
// call, in units of 1/period.
func (b bucket) judge(q *request, t terms, r *Result) (next bucket, before wide) {
	debt := b.debtAt(q.now.Mono, t)
	before = debt
	full := product(t.capacity, t.period)
	wanted := debt.plus(product(q.units(), t.period))

	*r = Result{Limit: q.limit.Count}
	switch {
	case q.units() > t.capacity:
		r.RetryAfter = Never
	case wanted.exceeds(full):
		r.RetryAfter = wanted.minus(full).durationUp(t.count)
	default:
		r.Allowed = true
		if q.charges() {
			debt = wanted
		}
	}

	spent, fraction := debt.quoRem(t.period)
	if r.Allowed && q.charges() {
		b = bucket{spent: int64(spent), fraction: int64(fraction), last: q.now.Mono}
	}
	used := spent
	if fraction > 0 {
		used++
	}
	r.Remaining = remaining(t.capacity, used)
	r.ResetAfter = debt.durationUp(t.count)
	r.NextUnit = nextUnit(debt, uint64(r.Remaining), t)
	return b, before
}

// nextUnit is the time until one more than remaining fits.
func nextUnit(debt wide, remaining uint64, t terms) time.Duration {
	if t.count == 0 {
		return Never
	}
	if debt.zero() {
		return 0
	}
	// A debt leaves less than the capacity, so the subtraction is safe.
	return debt.minus(product(t.capacity-remaining-1, t.period)).durationUp(t.count)
}
