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

// Agree reports whether the nodes that run and are not paused are ready, and
// those of each label have the same owners with the same assignment of keys.
func (c *Cluster) Agree() bool {
	type agreement struct {
		digest uint64
		owners map[string]uint64 // incarnations by id
	}
	byLabel := make(map[string]agreement)
	for _, n := range c.running {
		if n.paused {
			continue
		}
		if !n.Readiness().Ready {
			return false
		}
		mine := agreement{digest: n.Digest(), owners: make(map[string]uint64)}
		for _, m := range n.Members() {
			if m.Placed {
				mine.owners[m.ID] = m.Incarnation
			}
		}
		first, seen := byLabel[n.options.Label]
		if !seen {
			byLabel[n.options.Label] = mine
		} else if first.digest != mine.digest || !maps.Equal(first.owners, mine.owners) {
			return false
		}
	}
	return true
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
