package main

import (
	"context"
	"errors"
	"os"
	"time"
)

// The time that each step of the end may take: ten seconds in all.
const (
	leaveWithin  = 2 * time.Second
	lingerWithin = 2 * time.Second
	stopWithin   = time.Second
	finishWithin = 2 * time.Second
	closeWithin  = 3 * time.Second
)

// A draining node listens until no request has come for a while: clients
// that still send some have not seen yet that it is not ready. The while is
// counted in parts, so that a moment in which the whole process stands still
// is not taken for silence.
const (
	silentPart  = 50 * time.Millisecond
	silentParts = 6
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
// keys find new owners while it still answers, and it goes on until requests
// cease to come; then it stops to listen, what is in flight ends and the node
// leaves. A step that takes too long is given up and logged.
func (d *daemon) drain() {
	d.draining.Store(true)
	d.reloads.stop()
	for _, step := range []struct {
		name   string
		within time.Duration
		run    func(context.Context) error
	}{
		{"handing over the keys", leaveWithin, d.node.Drain},
		{"waiting for requests to cease", lingerWithin, d.linger},
		{"taking in who is connected", stopWithin, d.front.stop},
		{"ending the requests in flight", finishWithin, d.front.shutdown},
		{"closing the node", closeWithin, d.close},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), step.within)
		if err := step.run(ctx); err != nil {
			d.log.Warn("drained in part", "step", step.name, "error", err)
		}
		cancel()
	}
}

// close ends what the daemon is made of.
func (d *daemon) close(ctx context.Context) error {
	return errors.Join(d.reloads.wait(ctx), d.node.Close(ctx))
}

// linger waits until no request has come for a while. That they still come
// when ctx ends is no failure: there are clients that look at no readiness.
func (d *daemon) linger(ctx context.Context) error {
	part := time.NewTicker(silentPart)
	defer part.Stop()
	for silent := 0; silent < silentParts; {
		select {
		case <-d.arrived:
			silent = 0
		case <-part.C:
			silent++
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}
