package murmurate

import (
	"context"
	"time"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
)

// askEvery is how often a node in the client role, whose sessions are silent
// while it has nothing to ask, asks an owner for what is new.
const askEvery = 500 * time.Millisecond

// startOverrides takes up the overrides of the last run, and keeps them until
// the node closes.
func (n *Node) startOverrides() (err error) {
	o := cluster.OverridesOptions{
		Node:    n.options.Name,
		Changed: func(subjects []limiter.Subject) { n.book.follow(n.overrides, subjects) },
		Logger:  n.options.Logger,
	}
	if n.data.overrides != nil {
		o.Store = n.data.overrides
		if o.Saved, err = n.data.overrides.All(); err != nil {
			return err
		}
	}
	n.overrides = cluster.NewOverrides(o)
	n.book.identity, n.book.log = n.identity, n.options.Logger
	n.book.compile(n.Policies)
	for _, o := range n.overrides.All() {
		n.book.follow(n.overrides, []limiter.Subject{o.Subject})
	}
	n.overrides.Start()
	n.onClose("overrides", n.overrides.Close)
	return nil
}

// keepAsking asks one owner after the other for what is new, until the node
// closes. What was set here goes along.
func (n *Node) keepAsking() {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(askEvery)
		defer ticker.Stop()
		for turn := 0; ; turn++ {
			n.refresh(turn)
			select {
			case <-stop:
				return
			case <-ticker.C:
			case <-n.news:
			}
		}
	}()
	n.onClose("questions for news", func(context.Context) error {
		close(stop)
		<-done
		return nil
	})
}

// refresh asks an owner within reach, another one each turn.
func (n *Node) refresh(turn int) {
	peers := n.view().Peers()
	for i := range peers {
		if s, ok := peers[(turn+i)%len(peers)].(session); ok && s.Reachable() {
			s.client.Refresh()
			return
		}
	}
}
