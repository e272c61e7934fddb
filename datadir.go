package murmurate

import (
	"context"
	"fmt"
	"strings"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/journal"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// dataDir is what outlives the node. The zero value keeps nothing.
type dataDir struct {
	journal   *journal.Journal
	overrides *journal.Records
	counters  *journal.Counters
	places    *journal.Records
}

// placesBucket holds the placement, as one record by the name of placesKey.
const placesBucket journal.Bucket = "placement"

const placesKey = "state"

// keeps reports whether the node has a place for the durable limits of set, as
// an error that says what is missing. A client owns no counters.
func (o *Options) keeps(set *policy.Set) error {
	if o.DataDir != "" || o.Role == cluster.RoleClient {
		return nil
	}
	if names := set.Durable(); len(names) > 0 {
		return fmt.Errorf("limit %s is durable, which needs DataDir: set it, or Durable to false if the counter may be lost with the node",
			strings.Join(names, ", "))
	}
	return nil
}

// openDataDir opens what outlives the node, if it is to.
func (n *Node) openDataDir() error {
	if n.options.DataDir == "" {
		return nil
	}
	j, err := journal.Open(n.options.DataDir, n.options.Logger)
	if err != nil {
		return err
	}
	n.onClose("data directory", func(context.Context) error { return j.Close() })
	counters, err := j.Counters(n.options.Logger, n.clock.Now().Wall)
	if err != nil {
		return fmt.Errorf("data directory %s: %w", n.options.DataDir, err)
	}
	n.onClose("durable counters", func(context.Context) error { counters.Close(); return nil })
	n.data = dataDir{journal: j, overrides: j.Bucket(journal.Overrides), counters: counters, places: j.Bucket(placesBucket)}
	return nil
}

// kept is what the owner keeps durable counters in, nil if there is nothing.
func (d *dataDir) kept() cluster.Journal {
	if d.counters == nil {
		return nil
	}
	return d.counters
}

// restore gives the counters of the last run to the table, which nobody uses
// yet.
func (n *Node) restore() error {
	if n.data.counters == nil {
		return nil
	}
	now := n.clock.Now()
	err := n.data.counters.Each(func(id limiter.CounterID, w limiter.Window) error { return n.owned.Restore(now, id, w) })
	if err != nil {
		return fmt.Errorf("data directory %s: %d durable counters are more than limiter.max_keys: %w", n.options.DataDir, n.data.counters.Len(), err)
	}
	return nil
}

// lastPlaces is the placement that the last run of this node knew.
func (d *dataDir) lastPlaces() ([]byte, error) {
	if d.places == nil {
		return nil, nil
	}
	all, err := d.places.All()
	return all[placesKey], err
}

// savePlaces returns what keeps the placement, nil if there is nothing.
func (n *Node) savePlaces() func(state []byte) {
	if n.data.places == nil {
		return nil
	}
	return func(state []byte) {
		if err := n.data.places.Put(map[string][]byte{placesKey: state}); err != nil {
			n.options.Logger.Error("the members could not be written down; after a restart of all nodes this one takes their keys for its own until it finds them",
				"error", err)
		}
	}
}
