package testcluster

import (
	"errors"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// ErrScriptOver is the error of a [Scripted] limiter that is asked more than
// it has answers.
var ErrScriptOver = errors.New("testcluster: the script is over")

// failedRetry is the RetryAfter that a node gives with a denial that was not
// counted.
const failedRetry = time.Second

// Answer is what a [Limiter] says to one request. The zero value is a denial
// that may be tried again at once.
type Answer struct {
	// Allowed admits the request.
	Allowed bool
	// Limit and Remaining are the numbers of every limit of the policy. Limit
	// 0: the policy's own count, and if the request is allowed and Remaining
	// is 0, all of it remains.
	Limit, Remaining int64
	// RetryAfter is when to try again after a denial; limiter.Never: at no
	// time.
	RetryAfter time.Duration
	// ResetAfter is when the counter is as if unused, and with an admission
	// when the next unit is free. 0: as RetryAfter.
	ResetAfter time.Duration
	// Delay is how long an admitted request waits its turn.
	Delay time.Duration
	// Source is where the answer comes from. With an Err, its zero value
	// stands for limiter.SourceFailOpen or limiter.SourceFailClosed.
	Source limiter.Source
	// Err is returned beside the decision.
	Err error
}

// decision is the answer to a request of the given cost under plan.
func (a *Answer) decision(plan *policy.Plan, cost int64) policy.Decision {
	charges := plan.Charges(nil, cost)
	results := make([]limiter.Result, len(charges))
	for i := range results {
		results[i] = a.result(charges[i].Limit.Count)
	}
	return plan.Decide(cost, results)
}

// result is one limit's part, which counts to count.
func (a *Answer) result(count int64) limiter.Result {
	r := limiter.Result{
		Allowed:    a.Allowed,
		Source:     a.Source,
		Limit:      a.Limit,
		Remaining:  a.Remaining,
		ResetAfter: a.ResetAfter,
	}
	if r.Limit == 0 {
		r.Limit = count
		if r.Allowed && r.Remaining == 0 {
			r.Remaining = count
		}
	}
	if r.Allowed {
		r.Delay = a.Delay
	} else {
		r.RetryAfter = a.RetryAfter
	}
	if a.Err != nil {
		if r.Source == limiter.SourceOwner {
			r.Source = limiter.SourceFailClosed
			if r.Allowed {
				r.Source = limiter.SourceFailOpen
			}
		}
		if !r.Allowed && r.RetryAfter == 0 {
			r.RetryAfter = failedRetry
		}
	}
	if r.ResetAfter == 0 {
		r.ResetAfter = max(r.RetryAfter, 0)
	}
	if r.NextUnit = r.RetryAfter; r.Allowed {
		r.NextUnit = r.ResetAfter
	}
	return r
}
