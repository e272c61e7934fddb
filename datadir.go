package murmurate

import (
	"context"

	"github.com/murmurate/murmurate/journal"
)

// openDataDir opens what outlives the node, if it is to, and returns the
// overrides that were saved.
func (n *Node) openDataDir() (overrides map[string][]byte, err error) {
	if n.options.DataDir == "" {
		return nil, nil
	}
	j, err := journal.Open(n.options.DataDir, n.options.Logger)
	if err != nil {
		return nil, err
	}
	n.onClose("data directory", func(context.Context) error { return j.Close() })
	n.store = j.Bucket(journal.Overrides)
	return n.store.All()
}
