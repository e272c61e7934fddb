package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/murmurate/murmurate/config"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/observe"
)

// reloads tells how the reloads of a daemon go, and ends them.
type reloads struct {
	last   atomic.Pointer[lastReload]
	cancel context.CancelFunc // nil: nobody follows the configuration
	done   chan struct{}
}

// lastReload is how the configuration that was read last fared.
type lastReload struct {
	fault   string    // why it is not in force; empty: it is
	success time.Time // when the one in force was read
}

func (r *reloads) succeeded(at time.Time) { r.last.Store(&lastReload{success: at}) }

func (r *reloads) failed(err error) {
	r.last.Store(&lastReload{fault: summary(err), success: r.last.Load().success})
}

// summary is the first of the faults.
func summary(err error) string {
	faults, ok := errors.AsType[*config.Faults](err)
	if !ok {
		return err.Error()
	}
	first := faults.List[0].String()
	if more := len(faults.List) - 1; more > 0 {
		return fmt.Sprintf("%s (and %d more)", first, more)
	}
	return first
}

// metric answers scrapes.
func (r *reloads) metric() observe.Reload {
	last := r.last.Load()
	return observe.Reload{OK: last.fault == "", Success: last.success}
}

// condition is that of the configuration in /readyz.
func (r *reloads) condition() httpapi.Condition {
	c := httpapi.Condition{Name: "config", OK: true}
	if fault := r.last.Load().fault; fault != "" {
		c.OK, c.Detail = false, "the configuration was not reloaded: "+fault
	}
	return c
}

// stop asks the following of the configuration to end.
func (r *reloads) stop() {
	if r.cancel != nil {
		r.cancel()
	}
}

// wait returns when it has, or when ctx ends: a file may be on a disk that
// does not answer.
func (r *reloads) wait(ctx context.Context) error {
	if r.cancel == nil {
		return nil
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("reading the configuration: %w", ctx.Err())
	}
}
