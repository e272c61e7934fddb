package murmurate

import (
	"context"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
)

// Kill ends the node's listeners and sessions at once, without a word to the
// others.
func (n *Node) Kill() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n.members.Close()
	_ = n.peers.Close(ctx)
}

// DoAll has calls decided all or nothing. The failure mode denies.
func (n *Node) DoAll(ctx context.Context, calls ...limiter.Call) []cluster.Ask {
	asks := make([]cluster.Ask, len(calls))
	for i := range calls {
		asks[i] = cluster.Ask{Call: &calls[i], Results: make([]limiter.Result, len(calls[i].Charges))}
	}
	n.router.DoAll(ctx, asks, func(i int) { clear(asks[i].Results) })
	return asks
}

// Owner is the subject of a key, and the node that owns it.
func (n *Node) Owner(namespace, key string) (limiter.Subject, string) {
	s := n.identity.Subject(namespace, key)
	return s, n.view().OwnerID(s)
}

// SayOverride sets an override whose value another version has written.
func (n *Node) SayOverride(policyName, key, value string) error {
	_, err := n.overrides.Set(n.identity.Subject(policyName, key), []byte(value), 0)
	return err
}

// Syncs is how often the durable counters have waited for the disk.
func (n *Node) Syncs() int64 { return n.data.counters.Stats().Syncs }
