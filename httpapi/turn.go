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
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < delay {
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
