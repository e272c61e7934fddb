package testcluster

import (
	"maps"
	"slices"
	"time"

	"github.com/murmurate/murmurate/cluster"
)

// poll is how often Await looks.
const poll = 10 * time.Millisecond

// Await lets time run until done, and returns how long that took. If it is
// not within the given time, the test ends with what was waited for.
func (c *Cluster) Await(within time.Duration, what string, done func() bool) time.Duration {
	c.t.Helper()
	start := time.Now()
	for !done() {
		if time.Since(start) > within {
			c.t.Fatalf("testcluster: waited %v for %s", within, what)
		}
		time.Sleep(poll)
	}
	return time.Since(start)
}

// agreement is what nodes of one label have to see alike.
type agreement struct {
	digest uint64
	owners map[string]uint64 // by id: the incarnations of those that live
}

// Agree reports whether the nodes that run and are not paused are ready, and
// those of each label have the same owners with the same assignment of keys.
func (c *Cluster) Agree() bool {
	first := make(map[string]agreement) // by label
	for _, n := range c.running {
		if n.paused {
			continue
		}
		if !n.Readiness().Ready {
			return false
		}
		seen := c.seenBy(n)
		other, known := first[n.options.Label]
		if !known {
			first[n.options.Label] = seen
		} else if other.digest != seen.digest || !maps.Equal(other.owners, seen.owners) {
			return false
		}
	}
	return true
}

func (c *Cluster) seenBy(n *Node) agreement {
	a := agreement{digest: n.Digest(), owners: make(map[string]uint64)}
	for _, m := range n.Members() {
		if !m.Placed {
			continue
		}
		a.owners[m.ID] = 0 // of the dead, each node remembers what it knew last
		if other := c.nodes[m.ID]; other != nil && other.running && !other.paused {
			a.owners[m.ID] = m.Incarnation
		}
	}
	return a
}

// Connected reports whether every node that runs and is not paused has a
// session to every owner of its label that does.
func (c *Cluster) Connected() bool {
	return !slices.ContainsFunc(c.running, func(n *Node) bool { return !n.paused && !c.reachesAll(n) })
}

func (c *Cluster) reachesAll(n *Node) bool {
	reached := make(map[string]bool)
	for _, m := range n.Members() {
		reached[m.ID] = m.Reachable
	}
	return !slices.ContainsFunc(c.running, func(other *Node) bool {
		return !other.paused && other.options.Label == n.options.Label &&
			other.options.Role != cluster.RoleClient && !reached[other.Name()]
	})
}
