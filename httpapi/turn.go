package httpapi

import (
	"context"
	"time"
)

// turnComes waits until the turn of a request comes after delay. It returns
// false if the request ends before, at once if that is known beforehand.
func turnComes(ctx context.Context, delay time.Duration) bool {
	if delay <= 0 {
		return true
	}
	if late(ctx, delay) > 0 {
		return false
	}
	turn := time.NewTimer(delay)
	defer turn.Stop()
	select {
	case <-turn.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// late is by how much a turn after delay comes too late for ctx, 0 or less if
// it does not.
func late(ctx context.Context, delay time.Duration) time.Duration {
	deadline, limited := ctx.Deadline()
	if !limited || delay <= 0 {
		return 0
	}
	return delay - time.Until(deadline)
}
