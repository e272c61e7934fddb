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
	// DenyStatus is the HTTP status of a denial. 0: DefaultDenyStatus.
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
	// Window is the limit's period.
	Window time.Duration
	// Shadow is set when the limit's policy only observes.
	Shadow bool
}

// Outcome is what one Request of several came to.
type Outcome struct {
	// Decision is empty if Err is an ErrInput, and otherwise valid whatever
	// Err says.
	Decision Decision
	// Err is nil, or as a single check would have returned it.
	Err error
}

// UnitRequests is the unit that limits count.
const UnitRequests = "requests"

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
	closest, source := &results[0], limiter.SourceOwner
	for i := range results {
		d.Limits[i] = LimitResult{Result: results[i], Name: p.names[i], Window: p.policy.Limits[i].Period, Shadow: d.Shadow}
		source = max(source, results[i].Source)
		if Closer(&results[i], closest) {
			closest = &results[i]
		}
	}
	d.Result = *closest
	d.Source = source
	switch {
	case d.Shadow: // nobody is told to wait
		d.Allowed, d.RetryAfter, d.Delay = true, 0, 0
	case d.Allowed: // every limit takes the call, so it waits for the slowest
		for i := range results {
			d.Delay = max(d.Delay, results[i].Delay)
		}
	}
	return d
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
