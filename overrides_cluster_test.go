package murmurate_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/internal/race"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// reach is how long an override may take to every node.
const reach = time.Second

// withClients runs test in a bubble with owners n1 to n3 and clients c1 and c2,
// under the policy of keyed. disks: each has a data directory.
func withClients(t *testing.T, disks bool, test func(t *testing.T, c *testcluster.Cluster)) {
	t.Helper()
	if race.Enabled {
		t.Skip("the race detector has been seen to crash in bubbles with many timers; tests on loopback run with it")
	}
	t.Parallel()
	dirs := make(map[string]string)
	if disks {
		for _, name := range []string{"n1", "n2", "n3", "c1", "c2"} {
			dirs[name] = t.TempDir()
		}
	}
	synctest.Test(t, func(t *testing.T) {
		c := testcluster.New(t, testcluster.Options{Policies: []policy.Policy{keyed()}})
		for _, name := range []string{"n1", "n2", "n3"} {
			c.Start(name, testcluster.NodeOptions{DataDir: dirs[name]})
		}
		for _, name := range []string{"c1", "c2"} {
			c.Start(name, testcluster.NodeOptions{Role: cluster.RoleClient, DataDir: dirs[name]})
		}
		together(c)
		test(t, c)
	})
}

func together(c *testcluster.Cluster) {
	c.Await(30*time.Second, "the cluster to form", func() bool { return c.Agree() && c.Connected() })
}

// everywhere waits until the limit of a key is the same on every node, and
// returns how long that took.
func everywhere(t *testing.T, c *testcluster.Cluster, within time.Duration, key, limit string) time.Duration {
	t.Helper()
	return c.Await(within, fmt.Sprintf("the limit of %s to be %s everywhere", key, limit), func() bool {
		for _, n := range c.Nodes() {
			if limitOf(t, n.Node, key) != limit {
				return false
			}
		}
		return true
	})
}

func TestOverrideReachesEveryNode(t *testing.T) {
	withClients(t, false, func(t *testing.T, c *testcluster.Cluster) {
		for i, n := range c.Nodes() {
			key := fmt.Sprint("set on ", n.Name())
			set := override(t, n.Node, key, perHour(int64(100+i)), 0)
			t.Logf("%s: %v", key, everywhere(t, c, reach, key, fmt.Sprint(100+i)))
			for _, other := range c.Nodes() {
				got, ok, err := other.Override("api", set.Subject.String())
				if err != nil || !ok || got.Node != n.Name() || got.Override.Limits[0].Count != int64(100+i) {
					t.Errorf("%s has %+v, %v, %v", other.Name(), got, ok, err)
				}
			}
			next := c.Nodes()[(i+1)%5]
			override(t, next.Node, key, blocked, 0)
			t.Logf("%s, then on %s: %v", key, next.Name(), everywhere(t, c, reach, key, "blocked"))
			time.Sleep(time.Minute) // long idle
			if was, err := n.RemoveOverride("api", key); err != nil || !was {
				t.Errorf("removed %v, %v", was, err)
			}
			t.Logf("removed on %s: %v", n.Name(), everywhere(t, c, reach, key, "10"))
		}
	})
}

// A node that restarts without a memory has it from the others by the time it
// is ready.
func TestOverrideOutlivesEachNode(t *testing.T) {
	withClients(t, false, func(t *testing.T, c *testcluster.Cluster) {
		override(t, c.Node("n1").Node, "k", perHour(7), 24*time.Hour)
		everywhere(t, c, reach, "k", "7")
		for _, name := range []string{"n1", "n2", "n3", "c1", "c2"} {
			n := c.Restart(name)
			c.Await(30*time.Second, name+" to be ready", func() bool { return n.Readiness().Ready })
			if got := limitOf(t, n.Node, "k"); got != "7" {
				t.Errorf("%s is ready with %s", name, got)
			}
			together(c)
		}
		everywhere(t, c, 0, "k", "7")
		override(t, c.Node("n3").Node, "k", perHour(8), 0)
		everywhere(t, c, reach, "k", "8")
	})
}

// So it is with as many as there can be.
func TestManyOverridesOutliveANode(t *testing.T) {
	withClients(t, false, func(t *testing.T, c *testcluster.Cluster) {
		for i := range cluster.MaxOverrides {
			override(t, c.Node("n1").Node, fmt.Sprint("k", i), perHour(int64(100+i)), 24*time.Hour)
		}
		holds := func(n *testcluster.Node) func() bool {
			return func() bool { return len(n.Overrides()) == cluster.MaxOverrides }
		}
		for _, n := range c.Nodes() {
			t.Logf("%s: %v", n.Name(), c.Await(reach, n.Name()+" to have all", holds(n)))
		}
		for _, name := range []string{"n2", "c1"} {
			n := c.Restart(name)
			c.Await(30*time.Second, name+" to be ready", func() bool { return n.Readiness().Ready })
			if !holds(n)() {
				t.Errorf("%s is ready with %d", name, len(n.Overrides()))
			}
			together(c)
		}
		_, err := c.Node("n3").SetOverride("api", "one more", blocked, 0)
		if !errors.Is(err, cluster.ErrOverridesFull) {
			t.Errorf("one more: %v", err)
		}
	})
}

// When all nodes are killed at one time, what was acknowledged is on the disk
// of the one that did, and what the others know by then on theirs.
func TestOverrideOutlivesAllNodes(t *testing.T) {
	withClients(t, true, func(t *testing.T, c *testcluster.Cluster) {
		override(t, c.Node("n1").Node, "known", perHour(7), 24*time.Hour)
		override(t, c.Node("n1").Node, "for now", blocked, time.Minute)
		everywhere(t, c, reach, "known", "7")
		override(t, c.Node("c1").Node, "just set", blocked, 0)
		names := []string{"n1", "n2", "n3", "c1", "c2"}
		for _, name := range names {
			c.Kill(name)
		}
		time.Sleep(time.Hour)
		for _, name := range names {
			c.Restart(name)
			if got := limitOf(t, c.Node(name).Node, "known"); got != "7" {
				t.Errorf("%s starts with %s", name, got)
			}
		}
		together(c)
		everywhere(t, c, reach, "just set", "blocked")
		everywhere(t, c, 0, "for now", "10")
		if n := c.Restart("n2"); limitOf(t, n.Node, "just set") != "blocked" { // while the old one lets go of the directory
			t.Error("n2 starts without it")
		}
		together(c)
		o, _, err := c.Node("n2").Override("api", "known")
		if left := 23*time.Hour - o.Expires; err != nil || left < 0 || left > time.Minute {
			t.Errorf("%v are left, %v", o.Expires, err)
		}
	})
}

func TestOverrideExpiresEverywhereAtOnce(t *testing.T) {
	withClients(t, false, func(t *testing.T, c *testcluster.Cluster) {
		c.Delay(5*time.Millisecond, 10*time.Millisecond)
		const lasts = 10 * time.Second
		began := time.Now()
		override(t, c.Node("n2").Node, "k", blocked, lasts)
		everywhere(t, c, reach, "k", "blocked")
		n := c.Restart("n3") // and has it from another one
		c.Await(lasts/2, "n3 to have it", func() bool { return limitOf(t, n.Node, "k") == "blocked" })
		time.Sleep(time.Until(began.Add(lasts - time.Millisecond)))
		everywhere(t, c, 0, "k", "blocked")
		time.Sleep(101 * time.Millisecond)
		everywhere(t, c, 0, "k", "10")
	})
}

// Two sides of a cut set one key, and a third one removes another: afterwards
// all have what was said last.
func TestTheLastOverrideHoldsAfterACut(t *testing.T) {
	withClients(t, false, func(t *testing.T, c *testcluster.Cluster) {
		override(t, c.Node("n1").Node, "removed", blocked, 0)
		everywhere(t, c, reach, "removed", "blocked")
		one, other := []string{"n1", "c1"}, []string{"n2", "n3", "c2"}
		c.Cut(one, other)
		time.Sleep(time.Second)
		override(t, c.Node("n1").Node, "k", perHour(1), 0)
		override(t, c.Node("c2").Node, "only there", perHour(3), 0)
		time.Sleep(time.Second)
		override(t, c.Node("n3").Node, "k", perHour(2), 0)
		if _, err := c.Node("n2").RemoveOverride("api", "removed"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		for name, want := range map[string]string{"c1": "k by n1, removed by n1, ", "c2": "k by n3, only there by c2, "} {
			got := ""
			for _, key := range []string{"k", "removed", "only there"} {
				if o, ok, err := c.Node(name).Override("api", key); err != nil {
					t.Error(err)
				} else if ok {
					got += key + " by " + o.Node + ", "
				}
			}
			if got != want {
				t.Errorf("%s has %s meanwhile, want %s", name, got, want)
			}
		}
		c.Heal()
		together(c)
		everywhere(t, c, reach, "k", "2")
		everywhere(t, c, reach, "removed", "10")
		everywhere(t, c, reach, "only there", "3")
		time.Sleep(time.Minute)
		for _, n := range c.Nodes() {
			if len(n.Overrides()) != 2 {
				t.Errorf("%s has %+v", n.Name(), n.Overrides())
			}
		}
	})
}

// A node comes back with an old disk, after what is there was removed.
func TestRemovedOverrideStaysRemoved(t *testing.T) {
	withClients(t, true, func(t *testing.T, c *testcluster.Cluster) {
		override(t, c.Node("n1").Node, "k", blocked, 0)
		override(t, c.Node("n1").Node, "lasting", perHour(3), 0)
		everywhere(t, c, reach, "lasting", "3")
		c.Kill("n3")
		if was, err := c.Node("n2").RemoveOverride("api", "k"); err != nil || !was {
			t.Fatal(was, err)
		}
		time.Sleep(10 * time.Minute)
		c.Restart("n3")
		together(c)
		everywhere(t, c, reach, "k", "10")
		everywhere(t, c, reach, "lasting", "3")
	})
}

// The owner judges by the limit that the asker found, so one counter is right
// whoever asks.
func TestOverriddenKeyHasOneCounter(t *testing.T) {
	withClients(t, false, func(t *testing.T, c *testcluster.Cluster) {
		override(t, c.Node("c2").Node, "k", perHour(40), 0)
		everywhere(t, c, reach, "k", "40")
		admitted := 0
		for i := range 100 {
			d, err := c.Nodes()[i%5].Allow(t.Context(), "api", "k")
			if err != nil {
				t.Fatal(err)
			}
			if d.Allowed {
				admitted++
			}
		}
		if admitted != 40 {
			t.Errorf("%d of 100 admitted, want 40", admitted)
		}
	})
}

// On a real network, with real disks: what one node sets holds on all, and
// after all of them were killed.
func TestOverridesOverLoopback(t *testing.T) {
	t.Parallel()
	set := policies(t, keyed())
	names, dirs := []string{"n1", "n2", "c1"}, map[string]string{}
	for _, name := range names {
		dirs[name] = t.TempDir()
	}
	begin := func() (nodes []*murmurate.Node) {
		for i, name := range names {
			o := murmurate.Options{
				Name: name, Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0", Secret: "a secret of the test that is long enough",
				Policies: set, Deadline: 5 * time.Second, DataDir: dirs[name],
			}
			if i > 0 {
				o.Join = []string{nodes[0].GossipAddr().String()}
			}
			if name == "c1" {
				o.Role = cluster.RoleClient
			}
			nodes = append(nodes, start(t, o))
		}
		return nodes
	}
	nodes := begin()
	have := func(nodes []*murmurate.Node, key, limit string) {
		t.Helper()
		for _, n := range nodes {
			eventually(t, n.Name()+" to have "+limit, func() bool {
				d, err := n.Peek(t.Context(), "api", key)
				blocked := d.RetryAfter == limiter.Never
				return err == nil && (blocked && limit == "blocked" || !blocked && fmt.Sprint(d.Limit) == limit)
			})
		}
	}
	for i, n := range nodes {
		key := fmt.Sprint("set on ", n.Name())
		override(t, n, key, perHour(int64(100+i)), time.Hour)
		have(nodes, key, fmt.Sprint(100+i))
	}
	override(t, nodes[1], "set on n1", blocked, 0)
	have(nodes, "set on n1", "blocked")
	if _, err := nodes[2].RemoveOverride("api", "set on n2"); err != nil {
		t.Fatal(err)
	}
	have(nodes, "set on n2", "10")
	for _, n := range nodes {
		n.Kill()
	}
	for _, n := range nodes {
		if err := n.Close(t.Context()); err != nil && !errors.Is(err, t.Context().Err()) {
			t.Logf("%s: %v", n.Name(), err)
		}
	}
	nodes = begin()
	have(nodes, "set on n1", "blocked")
	have(nodes, "set on n2", "10")
	have(nodes, "set on c1", "102")
}
