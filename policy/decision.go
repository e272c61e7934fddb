package policy

import (
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Decision is the answer to one Request over all its limits. The embedded
// Result is that of the limit closest to denying: the fewest remaining, or
// on a denial the longest wait. Its Allowed says whether the request may
// proceed, and its Source is the weakest among the limits.
type Decision struct {
	limiter.Result
	// Policy is the policy that applied, or the name of the inline limit.
	Policy string
	// Cost is the units that were asked for.
	Cost int64
	// Shadow is set when the policy only observes: Allowed is then true,
	// RetryAfter and Delay are 0, whatever Limits say.
	Shadow bool
	// OnUnreachable is the failure mode that was in force.
	OnUnreachable Unreachable
	// DenyStatus is the HTTP status of a denial, as [Policy.DenyStatus] says. 0:
	// DefaultDenyStatus.
	DenyStatus int
	// Limits are the answers of the limits in configured order.
	Limits []LimitResult
	// Receipt is what the request's real cost is settled with. Empty: the
	// request asked for none, or was denied.
	Receipt string
}

// LimitResult is one limit's part in a Decision.
type LimitResult struct {
	limiter.Result
	// Name is policy/limit, or the policy's name for its lone unnamed limit.
	Name string
	// Capacity is what the limit holds while nothing is used; see
	// [limiter.Limit.Capacity].
	Capacity int64
	// Window is the limit's period. 0: it is one of concurrency, which has none.
	Window time.Duration
	// Algorithm is how the limit counts.
	Algorithm limiter.Algorithm
	// Unit is what it counts.
	Unit limiter.Unit
	// Zone is where the limit's calendar windows begin. Nil is UTC.
	Zone *time.Location
	// Shadow is set when the limit's policy only observes.
	Shadow bool

	limit *limiter.Limit // nil: not known
}

// Resets is when the window ends in which l counts at now. That of a counter that
// is unused follows from the calendar, or from the period. ok is false if l counts
// in no window, or in one that the next call opens.
func (l *LimitResult) Resets(now time.Time) (at time.Time, ok bool) {
	switch {
	case !l.Algorithm.Windowed():
	case l.ResetAfter > 0:
		return now.Add(l.ResetAfter), true
	case l.limit != nil && l.limit.Align != limiter.AlignFirst:
		return now.Add(l.limit.WindowEnd(limiter.At(now.UnixNano()))), true
	}
	return time.Time{}, false
}

// Used is the units that are spent and do not count as unused yet, at most the
// Capacity: what is owed beyond that is not among them. ok is false if the
// result does not tell: the owner was not asked, the key is blocked, or in a
// cool-down.
func (l *LimitResult) Used() (units int64, ok bool) {
	blocked := l.Remaining == 0 && l.ResetAfter == 0 && l.Capacity > 0
	if l.Source != limiter.SourceOwner || l.Cooling || blocked {
		return 0, false
	}
	return max(l.Capacity-l.Remaining, 0), true
}

// Outcome is what one Request of several came to.
type Outcome struct {
	// Decision is empty if Err is an ErrInput, and otherwise valid whatever
	// Err says.
	Decision Decision
	// Err is nil, or as a single check would have returned it.
	Err error
}

// DeniedBy names every limit that denied, in configured order. Those in shadow
// are left out of a denial, which is not theirs.
func (d *Decision) DeniedBy() []string {
	var names []string
	for i := range d.Limits {
		if d.denied(&d.Limits[i]) {
			names = append(names, d.Limits[i].Name)
		}
	}
	return names
}

// Denied reports whether any limit denied. In shadow that is not what
// Allowed says.
func (d *Decision) Denied() bool {
	for i := range d.Limits {
		if d.denied(&d.Limits[i]) {
			return true
		}
	}
	return false
}

func (d *Decision) denied(l *LimitResult) bool { return !l.Allowed && (d.Allowed || !l.Shadow) }

// Decide folds the results of one call, in the order of [Plan.Charges], into
// a Decision. cost is as given to Charges.
func (p *Plan) Decide(cost int64, results []limiter.Result) Decision {
	if cost == 0 {
		cost = p.policy.cost()
	}
	d := Decision{
		Policy:        p.policy.Name,
		Cost:          cost,
		Shadow:        p.policy.Shadow,
		OnUnreachable: p.policy.OnUnreachable,
		DenyStatus:    p.policy.DenyStatus,
		Limits:        make([]LimitResult, len(results)),
	}
	for i := range results {
		l := &p.policy.Limits[i]
		d.Limits[i] = LimitResult{
			Result: results[i], Name: p.names[i], Capacity: l.Capacity(), Window: WindowOf(l),
			Algorithm: l.Algorithm, Unit: l.Counts(), Zone: l.Zone, Shadow: d.Shadow, limit: l,
		}
	}
	if closest := d.conclude(); d.DenyStatus == 0 && closest.Algorithm == limiter.Quota && closest.Source != limiter.SourceFailClosed {
		d.DenyStatus = QuotaDenyStatus
	}
	return d
}

// conclude makes the top of one policy's decision of its limits. It returns the
// limit closest to denying.
func (d *Decision) conclude() (closest *LimitResult) {
	closest = d.fold()
	switch {
	case d.Shadow: // nobody is told to wait
		d.Allowed, d.RetryAfter, d.Delay = true, 0, 0
	case d.Allowed: // every limit takes the call, so it waits for the slowest
		for i := range d.Limits {
			d.Delay = max(d.Delay, d.Limits[i].Delay)
		}
	}
	return closest
}

// Held is the decision on the slots that a lease has under the named policy:
// one result for each limit name.
func Held(policyName string, names []string, results []limiter.Result) Decision {
	d := Decision{Policy: policyName, Cost: 1, Limits: make([]LimitResult, len(results))}
	for i := range results {
		d.Limits[i] = LimitResult{Result: results[i], Name: names[i], Algorithm: limiter.Concurrency, Unit: limiter.ConcurrentRequests}
	}
	d.fold()
	return d
}

// fold makes the numbers at the top those of the limit closest to denying,
// which it returns, and the source the weakest.
func (d *Decision) fold() (closest *LimitResult) {
	closest, source := &d.Limits[0], limiter.SourceOwner
	for i := range d.Limits {
		l := &d.Limits[i]
		source = max(source, l.Source)
		if Closer(&l.Result, &closest.Result) {
			closest = l
		}
	}
	d.Result = closest.Result
	d.Source = source
	return closest
}

// WindowOf is the time over which l counts. 0: over none, as it is one of
// concurrency.
func WindowOf(l *limiter.Limit) time.Duration {
	if hasSlots(*l) {
		return 0
	}
	return l.Period
}

// Closer reports whether a is closer to denying than b: a denial before an
// admission, the longer wait among denials (never is the longest), otherwise
// the fewer remaining.
func Closer(a, b *limiter.Result) bool {
	if a.Allowed != b.Allowed {
		return b.Allowed
	}
	if a.Allowed || a.RetryAfter == b.RetryAfter {
		return a.Remaining < b.Remaining
	}
	return uint64(a.RetryAfter) > uint64(b.RetryAfter) // Never, -1, is the largest
}
