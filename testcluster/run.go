package testcluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/policy"
)

const (
	// formsWithin is how long a new cluster may take to agree.
	formsWithin = 30 * time.Second
	// afterglow is how long a bubble runs on after its cluster has ended. The
	// gossip library's goroutines finish what they are at: probes, and
	// exchanges of states.
	afterglow = 5 * time.Minute
)

// Run runs test in a synctest bubble, on virtual time, with a cluster of size
// nodes n1 to nN that are ready, agree, and reach each other. Without
// policies they have the built-in one. Everything is closed when test
// returns.
//
// What testing/synctest says of its tests holds: no t.Run, t.Parallel or
// t.Deadline inside, and nothing that blocks outside the bubble, such as real
// connections.
func Run(t *testing.T, size int, test func(t *testing.T, c *Cluster), policies ...policy.Policy) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := New(t, Options{Policies: policies})
		for i := range size {
			c.Start(fmt.Sprint("n", i+1), NodeOptions{})
		}
		c.Await(formsWithin, "the cluster to form", func() bool { return c.Agree() && c.Connected() })
		test(t, c)
	})
}

// Lone runs test in a synctest bubble, on virtual time, with one node that
// has no listeners. Without policies it has the built-in one. The node is
// closed when test returns. See [Run].
func Lone(t *testing.T, test func(t *testing.T, n *murmurate.Node), policies ...policy.Policy) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set, err := policy.NewSet(policies...)
		if err != nil {
			t.Fatal(err)
		}
		n, err := murmurate.Start(t.Context(), murmurate.Options{Alone: true, Policies: set})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { end(n) })
		test(t, n)
	})
}

// inBubble reports whether the caller is in a synctest bubble.
func inBubble() (in bool) {
	defer func() { in = recover() == nil }()
	synctest.Wait()
	return true
}
