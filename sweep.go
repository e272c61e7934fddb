package murmurate

import (
	"context"
	"time"
)

const (
	sweepInterval = 100 * time.Millisecond
	// restInterval is that of a node with so few counters that one sweep
	// looks at most of them: an idle process should hardly wake up.
	restInterval = 30 * time.Second
	// sweepBudget is how many slots of each table one sweep looks at: a
	// table of 10,000,000 keys is looked through in four minutes, and a
	// sweep takes well under a millisecond.
	sweepBudget = 4096
)

// sweep drops expired counters in the background until the node closes.
func (n *Node) sweep() {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(restInterval)
		defer timer.Stop()
		for {
			select {
			case <-stop:
				return
			case <-timer.C:
				now := n.clock.Now()
				n.owned.Sweep(now, sweepBudget)
				n.shares.Sweep(now, sweepBudget)
				timer.Reset(n.sweepPause())
			}
		}
	}()
	n.onClose("sweeper", func(context.Context) error {
		close(stop)
		<-done
		return nil
	})
}

func (n *Node) sweepPause() time.Duration {
	if n.Keys() < sweepBudget {
		return restInterval
	}
	return sweepInterval
}
