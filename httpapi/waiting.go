package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// HeldError is the error of a request that a [Transport] did not send,
// because its turn comes later than the request's context or MaxWait permit.
// It is a context.DeadlineExceeded to errors.Is, and a timeout to net.Error.
type HeldError struct {
	// Until is when the other side takes requests again. Zero if it is our
	// own limit that the request waited for.
	Until time.Time
}

// Error says until when the request would have been held.
func (e *HeldError) Error() string {
	if e.Until.IsZero() {
		return "httpapi: request not sent: its own limit has no room for it in the time that it may wait"
	}
	return "httpapi: request not sent: the other side takes none before " + e.Until.UTC().Format(time.RFC3339)
}

// Unwrap returns context.DeadlineExceeded.
func (e *HeldError) Unwrap() error { return context.DeadlineExceeded }

// Timeout is true.
func (e *HeldError) Timeout() bool { return true }

// Temporary is true. With Timeout it makes a net.Error.
func (e *HeldError) Temporary() bool { return true }

// leastAsk is given to our own limit in any case: to ask takes time, even if
// the answer is that there is nothing to wait for.
const leastAsk = 100 * time.Millisecond

// waiting is the time that one request waits, over all its attempts.
type waiting struct {
	transport *Transport
	key       string
	left      time.Duration
}

// turn returns when the request may be sent. The other side comes first: our
// own units are not spent while it takes nothing. What it says meanwhile
// counts too.
func (w *waiting) turn(ctx context.Context) error {
	if err := w.held(ctx); err != nil {
		return err
	}
	if w.transport.Node == nil {
		return nil
	}
	if err := w.admitted(ctx); err != nil {
		return err
	}
	return w.held(ctx)
}

// held waits for as long as the other side takes no requests.
func (w *waiting) held(ctx context.Context) error {
	for {
		pause := w.transport.holds.pause(w.key, time.Now())
		if pause <= 0 {
			return ctx.Err()
		}
		until := time.Now().Add(pause)
		if !w.bears(ctx, pause) || !turnComes(ctx, pause) {
			return cmp.Or(ctx.Err(), error(&HeldError{Until: until}))
		}
		w.left -= pause
	}
}

// bears reports whether the request can wait that long.
func (w *waiting) bears(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return pause <= w.left && (!ok || time.Until(deadline) >= pause)
}

// admitted waits for our own limit.
func (w *waiting) admitted(ctx context.Context) error {
	begin := time.Now()
	bounded, cancel := context.WithTimeout(ctx, max(w.left, leastAsk))
	defer cancel()
	_, err := w.transport.Node.Wait(bounded, w.transport.Policy, w.key)
	w.left = max(w.left-time.Since(begin), 0)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return &HeldError{}
	}
	return fmt.Errorf("httpapi: request not sent: policy %q: %w", w.transport.Policy, err)
}
