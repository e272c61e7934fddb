package testcluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Limiter stands in for a *murmurate.Node in tests of code that asks one
// through an interface. It counts nothing: it answers as it was told, and
// records what it was asked. Requests that a node would refuse are refused
// (policy.ErrInput). It is safe for concurrent use.
type Limiter struct {
	answers []Answer
	repeat  bool // the one answer is for every request

	mu     sync.Mutex
	set    *policy.Set            // nil: every policy exists
	madeUp map[string]*policy.Set // by the name of the one policy
	given  int                    // answers
	calls  []policy.Request
	resets []policy.Request
	leases map[string]*lease     // by token
	admits map[string]*admission // by their receipts
	closed []Settlement
}

// Allowing returns a Limiter that admits everything.
func Allowing() *Limiter { return &Limiter{answers: []Answer{{Allowed: true}}, repeat: true} }

// Denying returns a Limiter that denies everything, with the given time to
// wait; limiter.Never for what can never pass.
func Denying(retryAfter time.Duration) *Limiter {
	return &Limiter{answers: []Answer{{RetryAfter: retryAfter}}, repeat: true}
}

// Scripted returns a Limiter that gives the answers in order, one for each
// request. A peek sees the next answer and leaves it. When there are no more,
// requests are denied with an error that wraps [ErrScriptOver].
func Scripted(answers ...Answer) *Limiter { return &Limiter{answers: slices.Clone(answers)} }

// WithPolicies makes the Limiter know the policies of set, and no others, and
// returns it. Without it every policy exists, as a copy of the built-in one.
func (l *Limiter) WithPolicies(set *policy.Set) *Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set = set
	return l
}

// Calls returns all requests so far, peeks and the attempts of waits among
// them, in order.
func (l *Limiter) Calls() []policy.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls)
}

// Resets returns the policies and keys of all resets so far.
func (l *Limiter) Resets() []policy.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.resets)
}

// Policies returns those of WithPolicies, or the built-in one.
func (l *Limiter) Policies() *policy.Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.set != nil {
		return l.set
	}
	set, _ := policy.NewSet() // the built-in policy has no faults
	return set
}

// Check gives the next answer.
func (l *Limiter) Check(_ context.Context, r policy.Request) (policy.Decision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	plan, err := l.resolve(&r)
	if err != nil {
		return policy.Decision{}, err
	}
	l.calls = append(l.calls, r)
	a := l.next(&r)
	d := a.decision(plan, r.Cost)
	if r.Receipt && d.Allowed {
		d.Receipt = l.receipt(r, d)
	}
	return d, a.Err
}

// CheckAll gives the next answers.
func (l *Limiter) CheckAll(ctx context.Context, rs []policy.Request) []policy.Outcome {
	outcomes := make([]policy.Outcome, len(rs))
	for i := range rs {
		outcomes[i].Decision, outcomes[i].Err = l.Check(ctx, rs[i])
	}
	return outcomes
}

// Allow gives the next answer.
func (l *Limiter) Allow(ctx context.Context, policyName, key string) (policy.Decision, error) {
	return l.Check(ctx, policy.Request{Policy: policyName, Key: key})
}

// AllowN gives the next answer; at 0 units it is a peek at a cost of 1.
func (l *Limiter) AllowN(ctx context.Context, policyName, key string, units int64) (policy.Decision, error) {
	d, err := l.Check(ctx, request(policyName, key, units))
	if units == 0 {
		d.Cost, d.Delay = 0, 0
	}
	return d, err
}

// Peek gives the next answer and leaves it.
func (l *Limiter) Peek(ctx context.Context, policyName, key string) (policy.Decision, error) {
	return l.Check(ctx, policy.Request{Policy: policyName, Key: key, Peek: true})
}

// Take gives the next answer.
func (l *Limiter) Take(ctx context.Context, key string, limit limiter.Limit) (policy.Decision, error) {
	return l.Check(ctx, policy.Request{Key: key, Limit: &limit})
}

// Reset is recorded, takes no answer, and sees an unused counter.
func (l *Limiter) Reset(_ context.Context, policyName, key string) (policy.Decision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := policy.Request{Policy: policyName, Key: key}
	plan, err := l.resolve(&r)
	if err != nil {
		return policy.Decision{}, err
	}
	l.resets = append(l.resets, r)
	unused := Answer{Allowed: true}
	return unused.decision(plan, 0), nil
}

// resolve checks r as a node does. The caller holds the lock, here and below.
func (l *Limiter) resolve(r *policy.Request) (*policy.Plan, error) {
	if l.set != nil {
		return applied(l.set, r)
	}
	if l.madeUp[r.Policy] == nil {
		made := policy.Default()
		if r.Policy != "" {
			made.Name = r.Policy
		}
		set, err := policy.NewSet(made)
		if err != nil {
			return nil, err
		}
		if l.madeUp == nil {
			l.madeUp = make(map[string]*policy.Set)
		}
		l.madeUp[r.Policy] = set
	}
	return applied(l.madeUp[r.Policy], r)
}

// applied is the first policy that r is charged by. There has to be one: what
// no policy applies to is decided by nobody.
func applied(set *policy.Set, r *policy.Request) (*policy.Plan, error) {
	found, err := set.Apply(nil, r, policy.MatchOptions{})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &policy.InputError{Field: "attributes", Detail: "match no policy of this double"}
	}
	return found[0].Plan, nil
}

// next is the answer to r.
func (l *Limiter) next(r *policy.Request) Answer {
	switch {
	case l.repeat:
		return l.answers[0]
	case l.given == len(l.answers):
		return Answer{Err: fmt.Errorf("%w: it had %d answers, and is asked about key %q once more", ErrScriptOver, len(l.answers), r.Key)}
	}
	a := l.answers[l.given]
	if !r.Peek {
		l.given++
	}
	return a
}
