package testcluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// placed lists the owners, as n sees them.
func placed(n *testcluster.Node) string {
	list := ""
	for _, m := range n.Members() {
		if m.Placed {
			list += m.ID + " "
		}
	}
	return list
}

func TestClientsAskAndNeverOwn(t *testing.T) {
	inBubble(t, testcluster.Options{Policies: []policy.Policy{limited(40)}}, func(t *testing.T, c *testcluster.Cluster) {
		for i := range 3 {
			c.Start(fmt.Sprint("n", i+1), testcluster.NodeOptions{})
		}
		c.Await(10*time.Second, "the owners", whole(c))
		digest := c.Node("n1").Digest()
		var clients []*testcluster.Node
		for i := range 20 {
			clients = append(clients, c.Start(fmt.Sprint("app", i+1), testcluster.NodeOptions{Role: cluster.RoleClient}))
		}
		c.Await(10*time.Second, "the clients", whole(c))
		unmoved := func(when string) {
			t.Helper()
			for _, n := range c.Nodes() {
				if owners := placed(n); owners != "n1 n2 n3 " || n.Digest() != digest {
					t.Errorf("%s: %s says that the owners are %q, digest %x", when, n.Name(), owners, n.Digest())
				}
			}
		}
		unmoved("with all clients")
		for i := range 10 {
			if got := crowd(t, clients, fmt.Sprint("crowd-", i), 100); got != 40 {
				t.Errorf("admitted %d of 100, want 40", got)
			}
		}
		for i, n := range clients {
			if d := ask(t, n, "in turn"); d.Source != limiter.SourceOwner || d.Remaining != int64(39-i) {
				t.Errorf("%s: %+v", n.Name(), d)
			}
			if n.Keys() != 0 {
				t.Errorf("%s holds %d counters", n.Name(), n.Keys())
			}
		}
		c.Stop("app7")
		unmoved("right after a client has left")
		c.Kill("app8")
		time.Sleep(time.Minute)
		unmoved("long after")
		if d := ask(t, c.Node("app9"), "in turn"); d.Source != limiter.SourceOwner || d.Remaining != 19 {
			t.Errorf("the counter after a client has left: %+v", d)
		}
	})
}
