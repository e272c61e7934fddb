package cluster

import (
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
)

// Gossip can take a member for dead that answers. Its session knows better,
// and ends once it does not answer any more.
func TestSessionOutlivesDeathInGossip(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2 := c.start("n1", 1, nil), c.start("n2", 2, seedsOn(1))
		c.await(10*time.Second, "two nodes form", formed("n1 n2", n1, n2))
		for _, b := range n1.table.boots() {
			n1.table.NotifyLeave(&memberlist.Node{Name: b.name})
		}
		c.always(3*time.Second, "n1 keeps its session", func() bool { return n1.sessions.open() == 1 })
		if n := n1.sessions.total(); n != 1 {
			t.Errorf("%d sessions were opened, want the first to stay", n)
		}
		n2.Close()
		c.await(3*time.Second, "the session ends with the node", func() bool { return n1.sessions.open() == 0 })
	})
}
