package main

import (
	"context"
	"errors"
	"os"
	"time"
)

// The time that each step of the end may take: ten seconds in all.
const (
	leaveWithin  = 4 * time.Second
	finishWithin = 3 * time.Second
	closeWithin  = 3 * time.Second
)

// echoWithin is how soon after the first a signal is still the same one: when
// a process group is ended, or by timeout(1), it may be delivered twice.
const echoWithin = 200 * time.Millisecond

// errSecondSignal ends a drain early.
var errSecondSignal = errors.New("ended at once by a second signal")

// end drains the daemon, unless another signal comes: then it returns at
// once, and what was still to be done is left to the end of the process.
func (d *daemon) end(signals <-chan os.Signal) error {
	began := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.drain()
	}()
	for {
		select {
		case <-done:
			return nil
		case <-signals:
			if time.Since(began) > echoWithin {
				return errSecondSignal
			}
		}
	}
}

// drain is the planned end. The node is not ready from the first moment; its
// keys find new owners while it still answers; then what is in flight ends
// and the node leaves. A step that takes too long is given up and logged.
func (d *daemon) drain() {
	d.draining.Store(true)
	for _, step := range []struct {
		name   string
		within time.Duration
		run    func(context.Context) error
	}{
		{"handing over the keys", leaveWithin, d.node.Drain},
		{"ending the requests in flight", finishWithin, d.front.shutdown},
		{"closing the node", closeWithin, d.node.Close},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), step.within)
		if err := step.run(ctx); err != nil {
			d.log.Warn("drained in part", "step", step.name, "error", err)
		}
		cancel()
	}
}
