package testcluster

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Acquire gives the next answer, and with an admission a lease that is held
// until it is released. With WithPolicies the policy needs a concurrency limit.
func (l *Limiter) Acquire(ctx context.Context, r policy.Request) (policy.Lease, policy.Decision, error) {
	r.Peek = false
	d, err := l.Check(ctx, r)
	return l.lease(&r, d, err)
}

// WaitAcquire gives answers until one admits, and waits as Wait does.
func (l *Limiter) WaitAcquire(ctx context.Context, r policy.Request) (policy.Lease, policy.Decision, error) {
	r.Peek = false
	d, err := l.wait(ctx, r)
	return l.lease(&r, d, err)
}

// Grant is Acquire by token.
func (l *Limiter) Grant(ctx context.Context, r policy.Request) (policy.Grant, error) {
	lease, d, err := l.Acquire(ctx, r)
	if lease == nil {
		return policy.Grant{Decision: d}, err
	}
	return policy.Grant{Decision: d, Token: lease.Token(), TTL: cmp.Or(r.TTL, limiter.DefaultTTL)}, err
}

// Renew takes no answer: it admits while the lease is held, and returns
// policy.ErrLapsed afterwards.
func (l *Limiter) Renew(_ context.Context, token string, ttl time.Duration) (policy.Grant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lease := l.leases[token]
	switch {
	case lease == nil:
		return policy.Grant{}, errNoLease
	case lease.err != nil:
		return policy.Grant{}, policy.ErrLapsed
	}
	return policy.Grant{Decision: lease.decision, Token: token, TTL: cmp.Or(ttl, lease.ttl)}, nil
}

// Release takes no answer.
func (l *Limiter) Release(_ context.Context, token string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lease := l.leases[token]
	if lease == nil {
		return false, errNoLease
	}
	lease.end()
	return true, nil
}

// Held is the number of leases that nobody has released yet: 0 if the tested
// code gives back what it takes.
func (l *Limiter) Held() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lease := range l.leases {
		if lease.err == nil {
			n++
		}
	}
	return n
}

var errNoLease = &policy.InputError{Field: "lease", Detail: "is not what this double gave"}

// lease makes the lease that goes with an answer to r.
func (l *Limiter) lease(r *policy.Request, d policy.Decision, err error) (policy.Lease, policy.Decision, error) {
	if !d.Allowed {
		return nil, d, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if plan, fault := l.resolve(r); fault != nil || l.set != nil && !plan.Concurrency() {
		return nil, policy.Decision{}, &policy.InputError{Field: "policy", Detail: "has no concurrency limit, which acquiring needs"}
	}
	if l.leases == nil {
		l.leases = make(map[string]*lease)
	}
	made := &lease{limiter: l, token: fmt.Sprint("lease-", len(l.leases)+1), decision: d, ttl: cmp.Or(r.TTL, limiter.DefaultTTL), done: make(chan struct{})}
	l.leases[made.token] = made
	return made, d, err
}

// lease is one that a Limiter gave.
type lease struct {
	limiter  *Limiter
	token    string
	decision policy.Decision
	ttl      time.Duration
	done     chan struct{}
	err      error // guarded by the Limiter's lock; nil while it is held
}

// end releases a lease. The caller holds the Limiter's lock.
func (l *lease) end() {
	if l.err == nil {
		l.err = policy.ErrReleased
		close(l.done)
	}
}

// Release implements policy.Lease.
func (l *lease) Release(ctx context.Context) error {
	_, err := l.limiter.Release(ctx, l.token)
	return err
}

// Done implements policy.Lease.
func (l *lease) Done() <-chan struct{} { return l.done }

// Err implements policy.Lease.
func (l *lease) Err() error {
	l.limiter.mu.Lock()
	defer l.limiter.mu.Unlock()
	return l.err
}

// Token implements policy.Lease.
func (l *lease) Token() string { return l.token }
