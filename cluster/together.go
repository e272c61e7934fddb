package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

const (
	// confirmShare is the part of the deadline, a quarter, that is kept for
	// confirming.
	confirmShare = 4
	// lapseSlack is how much later than the check's deadline a hold lapses, so
	// that a confirmation in time finds it open although a table's clock can be
	// ahead by a millisecond.
	lapseSlack = 5 * time.Millisecond
	// leastMoment is the shortest pause before a contended call is asked again.
	leastMoment = time.Millisecond
)

// DoAll has the asks decided by the owners of their subjects: Takes, or
// Acquires, all or nothing, other calls each by itself. All must have the same
// Op. It returns within the deadline, and every ask has its answer then.
//
// Takes are held one after the other, the smallest capacity first. The last
// is taken, and then the others are confirmed at one time; an Acquire is held,
// acquired and occupied alike. At the first
// denial all are cancelled, and the answers say what the counters then hold.
// A denial that only the open holds of others cause is asked once more. A
// single Take is just taken. What is in shadow is asked for after that.
//
// When an owner does not decide a call, for whatever reason, Err is set and
// instead(i) must fill the Results of asks[i] as the call's Op says, or deny:
// it is the policy's failure mode. If it admits a hold it is called again to
// confirm or cancel it. Calls of instead do not overlap.
//
// Each subject is charged at most once, and none if a hold is denied. What
// cannot be told apart from here: whether a last Take or a confirmation that
// was not answered has been charged. instead is asked for a Take then, and if
// it denies, the other calls of the denied request may have been charged, as
// Ask.Taken says of each: what leases have acquired can be released.
func (r *Router) DoAll(ctx context.Context, asks []Ask, instead func(i int)) {
	if len(asks) == 0 {
		return
	}
	t := &together{router: r, ctx: ctx, op: asks[0].Call.Op, deadline: time.Now().Add(r.deadline), instead: instead}
	if end, limited := ctx.Deadline(); limited && end.Before(t.deadline) {
		t.deadline = end
	}
	var enforced, shadow []*Ask
	for i := range asks {
		a := &asks[i]
		a.Err, a.Taken, a.place = nil, false, i
		if a.Shadow {
			shadow = append(shadow, a)
		} else {
			enforced = append(enforced, a)
		}
	}
	if t.op != limiter.Take && t.op != limiter.Acquire {
		t.each(append(enforced, shadow...), t.op)
		return
	}
	if t.takes(enforced) {
		t.each(shadow, t.op)
	} else {
		t.each(shadow, limiter.Peek)
	}
	for i := range asks {
		c := asks[i].Call
		c.Op, c.Hold, c.Lapse = t.op, limiter.HoldID{}, 0
	}
}

// together is one run of DoAll.
type together struct {
	router   *Router
	ctx      context.Context
	op       limiter.Op // that was asked for
	deadline time.Time
	instead  func(i int)
}

// takes takes all or nothing, and reports whether all were admitted.
func (t *together) takes(asks []*Ask) bool {
	if len(asks) < 2 {
		t.each(asks, t.op)
	} else {
		t.holdAndTake(slices.SortedFunc(slices.Values(asks), narrowestFirst))
	}
	return !slices.ContainsFunc(asks, func(a *Ask) bool { return !a.Admitted() })
}

// holdAndTake takes all or nothing, in the given order.
func (t *together) holdAndTake(order []*Ask) {
	last := len(order) - 1
	asking := t.deadline.Add(-time.Until(t.deadline) / confirmShare)
	for i, a := range order {
		op := limiter.Hold
		if i == last {
			op = t.op
		}
		if !t.admits(a, op, asking) {
			t.cancel(order[:i], order[i+1:])
			return
		}
	}
	t.confirm(order[:last])
}

// admits asks for a hold or a take, and reports whether it was admitted.
func (t *together) admits(a *Ask, op limiter.Op, asking time.Time) bool {
	began := time.Now()
	t.reserve(a, op, asking)
	if a.contended() && t.pause(time.Since(began), asking) {
		t.reserve(a, op, asking)
	}
	return a.Admitted()
}

// reserve asks for a hold or a take once.
func (t *together) reserve(a *Ask, op limiter.Op, asking time.Time) {
	a.Call.Op = op
	if op == limiter.Hold {
		a.Call.Hold = newHoldID()
		a.Call.Lapse = min(max(time.Until(t.deadline), 0)+lapseSlack, limiter.MaxLapse)
	}
	if a.Err = t.router.doBy(t.ctx, asking, a.Call, a.Results); a.Err != nil {
		t.instead(a.place)
	}
	a.Taken = op == t.op && (a.Err != nil || a.Admitted())
}

// pause gives others the time that asking took to end their holds, if there
// is as much left.
func (t *together) pause(took time.Duration, asking time.Time) bool {
	took = max(took, leastMoment)
	if time.Until(asking) < 2*took {
		return false
	}
	moment := time.NewTimer(took)
	defer moment.Stop()
	select {
	case <-moment.C:
		return true
	case <-t.ctx.Done():
		return false
	}
}

// confirm charges what was held, or occupies it. A caller that has left makes no difference,
// as the last call is charged already.
func (t *together) confirm(held []*Ask) {
	op := limiter.Confirm
	if t.op == limiter.Acquire {
		op = limiter.Occupy
	}
	for _, a := range held {
		a.Taken = true
	}
	owners, modes := byDecider(held)
	for _, a := range modes {
		a.Call.Op = op
		t.instead(a.place)
	}
	told := delays(owners)
	for _, a := range t.ask(context.WithoutCancel(t.ctx), owners, op) {
		a.Call.Op = t.op // it may have been charged; the failure mode says what that is worth
		t.instead(a.place)
	}
	for i, a := range owners {
		if a.Err == nil {
			for j := range a.Results {
				a.Results[j].Delay = told[i][j]
			}
		}
	}
}

// cancel gives back what was held, and looks at what was not asked for.
func (t *together) cancel(held, rest []*Ask) {
	owners, modes := byDecider(held)
	for _, a := range modes {
		a.Call.Op = limiter.Cancel
		t.instead(a.place)
	}
	t.ask(context.WithoutCancel(t.ctx), owners, limiter.Cancel)
	for _, a := range held {
		for i := range a.Results { // it did admit, whatever others have spent since
			r := &a.Results[i]
			r.Allowed, r.Contended, r.Cooling, r.RetryAfter, r.Delay = true, false, false, 0, 0
		}
		if a.Err != nil && !slices.Contains(modes, a) {
			a.Err = nil // the owner did decide; the hold lapses
		}
	}
	t.each(rest, limiter.Peek)
}

// each has every ask decided by itself.
func (t *together) each(asks []*Ask, op limiter.Op) {
	for _, a := range t.ask(t.ctx, asks, op) {
		t.instead(a.place)
	}
	for _, a := range asks {
		a.Taken = op == t.op && (a.Err != nil || a.Admitted())
	}
}

// ask has all decided at one time, and returns those that were not: their Err
// is set and their Results are as before.
func (t *together) ask(ctx context.Context, asks []*Ask, op limiter.Op) (failed []*Ask) {
	var away sync.WaitGroup
	do := func(a *Ask) {
		if err := t.router.doBy(ctx, t.deadline, a.Call, a.Results); err != nil {
			a.Err = err
		}
	}
	v := t.router.view()
	for i, a := range asks {
		a.Call.Op = op
		if i == len(asks)-1 || v.owns(a.Call.Subject) {
			do(a)
		} else {
			away.Go(func() { do(a) })
		}
	}
	away.Wait()
	for _, a := range asks {
		if a.Err != nil {
			failed = append(failed, a)
		}
	}
	return failed
}

// doBy is Do with a given deadline.
func (r *Router) doBy(ctx context.Context, deadline time.Time, call *limiter.Call, results []limiter.Result) error {
	v := r.view()
	i := v.owner(call.Subject)
	if i >= 0 && v.self(i) {
		return r.own(v, i, deadline, call, results)
	}
	return r.forward(ctx, deadline, v, i, call, results)
}
