package testcluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// leases is what applications may ask of a node for a lease.
type leases interface {
	Acquire(ctx context.Context, r policy.Request) (policy.Lease, policy.Decision, error)
	WaitAcquire(ctx context.Context, r policy.Request) (policy.Lease, policy.Decision, error)
	Grant(ctx context.Context, r policy.Request) (policy.Grant, error)
	Renew(ctx context.Context, token string, ttl time.Duration) (policy.Grant, error)
	Release(ctx context.Context, token string) (bool, error)
}

var (
	_ leases = (*murmurate.Node)(nil)
	_ leases = (*testcluster.Limiter)(nil)
)

func TestLeasesOfDoubles(t *testing.T) {
	t.Parallel()
	l := testcluster.Scripted(
		testcluster.Answer{Allowed: true}, testcluster.Answer{RetryAfter: time.Second}, testcluster.Answer{Allowed: true},
		testcluster.Answer{RetryAfter: time.Millisecond}, testcluster.Answer{Allowed: true})
	r := policy.Request{Policy: "api", Key: "k"}
	first, d, err := l.Acquire(t.Context(), r)
	if err != nil || !d.Allowed || first.Err() != nil || l.Held() != 1 {
		t.Fatalf("%v, %+v, %v", first, d, err)
	}
	if denied, d, err := l.Acquire(t.Context(), r); denied != nil || d.Allowed || err != nil {
		t.Errorf("%v, %+v, %v", denied, d, err)
	}
	grant, err := l.Grant(t.Context(), r)
	if err != nil || grant.Token == "" || grant.Token == first.Token() || grant.TTL != limiter.DefaultTTL {
		t.Errorf("%+v, %v", grant, err)
	}
	waited, _, err := l.WaitAcquire(t.Context(), r)
	if err != nil || l.Held() != 3 {
		t.Errorf("%v, %d held", err, l.Held())
	}
	if renewed, err := l.Renew(t.Context(), grant.Token, time.Second); err != nil || renewed.TTL != time.Second {
		t.Errorf("%+v, %v", renewed, err)
	}
	for range 2 {
		if err := waited.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if released, err := l.Release(t.Context(), grant.Token); !released || err != nil {
			t.Error(released, err)
		}
	}
	<-waited.Done()
	if _, err := l.Renew(t.Context(), grant.Token, 0); !errors.Is(err, policy.ErrLapsed) || !errors.Is(waited.Err(), policy.ErrReleased) || l.Held() != 1 {
		t.Errorf("%v, %v, %d held", err, waited.Err(), l.Held())
	}
	if _, err := l.Release(t.Context(), "another"); !errors.Is(err, policy.ErrInput) {
		t.Error(err)
	}
	known := testcluster.Allowing().WithPolicies(policySet(t, policy.Policy{Name: "api", Limits: []limiter.Limit{limiter.PerMinute(1)}}))
	if lease, _, err := known.Acquire(t.Context(), r); lease != nil || !errors.Is(err, policy.ErrInput) {
		t.Errorf("of a policy without slots: %v, %v", lease, err)
	}
}

func policySet(t *testing.T, policies ...policy.Policy) *policy.Set {
	t.Helper()
	set, err := policy.NewSet(policies...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
