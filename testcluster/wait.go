package testcluster

import (
	"context"
	"fmt"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// shortestWait keeps a Wait from spinning on denials without a RetryAfter.
const shortestWait = time.Millisecond

// Wait gives answers until one admits, and waits in between for as long as
// they say, and then for the Delay of the last. The error is nil if and only
// if the request was admitted; it is that of ctx, at once if ctx has a
// deadline before the next attempt, or the Err of a denial, or
// murmurate.ErrNever.
func (l *Limiter) Wait(ctx context.Context, policyName, key string) (policy.Decision, error) {
	return l.wait(ctx, policy.Request{Policy: policyName, Key: key})
}

// WaitN is Wait at a cost of units; at 0 it waits for a peek at a cost of 1.
func (l *Limiter) WaitN(ctx context.Context, policyName, key string, units int64) (policy.Decision, error) {
	return l.wait(ctx, request(policyName, key, units))
}

// request asks for units, or at 0 looks whether one would pass.
func request(policyName, key string, units int64) policy.Request {
	if units == 0 {
		return policy.Request{Policy: policyName, Key: key, Cost: 1, Peek: true}
	}
	return policy.Request{Policy: policyName, Key: key, Cost: units}
}

func (l *Limiter) wait(ctx context.Context, r policy.Request) (policy.Decision, error) {
	for {
		if err := ctx.Err(); err != nil {
			return policy.Decision{}, err
		}
		d, err := l.Check(ctx, r)
		switch {
		case d.Allowed:
			err = pause(ctx, d.Delay)
			d.Allowed = err == nil
			return d, err
		case err != nil:
			return d, err
		case d.RetryAfter == limiter.Never:
			return d, murmurate.ErrNever
		}
		if err := pause(ctx, max(d.RetryAfter, shortestWait)); err != nil {
			return d, err
		}
	}
}

// pause waits for d, or returns why that is of no use.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	if end, limited := ctx.Deadline(); limited && time.Until(end) < d {
		return fmt.Errorf("testcluster: the request can pass in %v at the earliest: %w", d, context.DeadlineExceeded)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
