package testcluster_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

func TestRunGivesAClusterThatCounts(t *testing.T) {
	running(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		for i, n := range c.Nodes() {
			if want := fmt.Sprint("n", i+1); n.Name() != want || c.Node(want) != n || !n.Running() || n.Paused() {
				t.Errorf("node %d is %s", i+1, n.Name())
			}
			if want := fmt.Sprintf("10.0.0.%d:7381", i+1); n.GossipAddr().String() != want {
				t.Errorf("%s is at %v, want %s", n.Name(), n.GossipAddr(), want)
			}
		}
		for round := range 10 {
			if got := crowd(t, c.Nodes(), fmt.Sprint("crowd-", round), 500); got != 40 {
				t.Errorf("round %d: admitted %d of 500, want 40", round, got)
			}
		}
		time.Sleep(window)
		if got := crowd(t, c.Nodes(), "crowd-0", 500); got != 40 {
			t.Errorf("a window later: admitted %d of 500, want 40", got)
		}
	}, limited(40))
}

func TestLoneNode(t *testing.T) {
	virtual(t)
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		for i, wait := range []time.Duration{0, 0, window} {
			time.Sleep(wait)
			d, err := n.Check(t.Context(), policy.Request{Policy: "api", Key: "k"})
			if err != nil || d.Allowed != (i != 1) {
				t.Errorf("call %d: %v, %+v", i+1, err, d)
			}
		}
	}, limited(1))
}

func TestKilledNodeIsMissedAtOnce(t *testing.T) {
	running(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		n1, digest := c.Node("n1"), c.Node("n1").Digest()
		key := keyOf(t, n1, "n3")
		for range 2 {
			ask(t, n1, key)
		}
		c.Kill("n3")
		if n3 := c.Node("n3"); n3.Running() || len(c.Nodes()) != 2 {
			t.Error("it still runs")
		}
		if d := ask(t, n1, key); d.Source != limiter.SourceShare || !d.Allowed || d.Remaining != 9 {
			t.Errorf("right after: %+v, want a third of the limit", d)
		}
		time.Sleep(2 * time.Minute)
		if !c.Agree() || n1.Digest() != digest {
			t.Error("a crash has moved keys")
		}
		c.Restart("n3")
		took := c.Await(10*time.Second, "n3 to be back", func() bool { return c.Agree() && c.Connected() })
		t.Logf("back after %v", took)
		if d := ask(t, n1, key); d.Source != limiter.SourceOwner || d.Remaining != 29 || n1.Digest() != digest {
			t.Errorf("after the restart, with empty memory: %+v", d)
		}
	}, limited(30))
}

func TestRestartOfARunningNode(t *testing.T) {
	running(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		before := c.Node("n2")
		after := c.Restart("n2")
		if before == after || before.Running() || c.Node("n2") != after || before.GossipAddr().String() != after.GossipAddr().String() {
			t.Error("it is not another node at the same address")
		}
		c.Await(10*time.Second, "it to be back", func() bool { return c.Agree() && c.Connected() })
	}, limited(30))
}

func TestStoppedNodeHandsItsKeysOver(t *testing.T) {
	running(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		n1 := c.Node("n1")
		key := keyOf(t, n1, "n2")
		stopped := make(chan time.Duration)
		go func() {
			start := time.Now()
			c.Stop("n2")
			stopped <- time.Since(start)
		}()
		for waiting := true; waiting; {
			select {
			case took := <-stopped:
				waiting = false
				if took > 10*time.Second {
					t.Errorf("took %v", took)
				}
			case <-time.After(time.Millisecond):
				if d := ask(t, n1, key); d.Source != limiter.SourceOwner {
					t.Fatalf("a check failed meanwhile: %+v", d)
				}
			}
		}
		c.Await(time.Second, "n1 and n3 to agree", c.Agree)
		if owner, _ := c.Node("n3").OwnerOf("api", key); owner == "n2" {
			t.Error("it still owns keys")
		}
	}, limited(1_000_000))
}

func TestLabelsKeepClustersApart(t *testing.T) {
	inBubble(t, testcluster.Options{Policies: []policy.Policy{limited(10)}}, func(t *testing.T, c *testcluster.Cluster) {
		for _, name := range []string{"a1", "b1", "a2", "b2"} {
			c.Start(name, testcluster.NodeOptions{Label: name[:1]})
		}
		stray := c.Start("b3", testcluster.NodeOptions{Label: "b", Join: []string{"a1", "b1"}})
		c.Await(10*time.Second, "two clusters", func() bool { return c.Agree() && c.Connected() })
		time.Sleep(2 * time.Minute)
		if !c.Agree() || len(c.Node("a1").Members()) != 2 || len(stray.Members()) != 3 || c.Node("a1").Digest() == stray.Digest() {
			t.Errorf("members %v and %v", c.Node("a1").Members(), stray.Members())
		}
		for label, nodes := range map[string][]*testcluster.Node{
			"a": {c.Node("a1"), c.Node("a2")},
			"b": {c.Node("b1"), c.Node("b2"), stray},
		} {
			if got := crowd(t, nodes, "k", 60); got != 10 {
				t.Errorf("cluster %s admitted %d, want 10", label, got)
			}
		}
	})
}

// scenario 28, the secret's part: who does not know it does not get in.
func TestSecretKeepsStrangersOut(t *testing.T) {
	inBubble(t, testcluster.Options{Policies: []policy.Policy{limited(10)}}, func(t *testing.T, c *testcluster.Cluster) {
		const secret = "correct horse battery staple, and more of it"
		n1 := c.Start("n1", testcluster.NodeOptions{Secret: secret})
		n2 := c.Start("n2", testcluster.NodeOptions{Secret: secret})
		c.Await(10*time.Second, "two nodes with the secret", func() bool { return c.Agree() && c.Connected() })
		stranger := c.Start("n3", testcluster.NodeOptions{})
		time.Sleep(time.Minute)
		if len(n1.Members()) != 2 || !stranger.Readiness().Alone {
			t.Errorf("members %v, the stranger %+v", n1.Members(), stranger.Readiness())
		}
		if got := crowd(t, []*testcluster.Node{n1, n2}, "k", 50); got != 10 {
			t.Errorf("admitted %d, want 10", got)
		}
	})
}

func TestNodesHaveTheirOwnPolicies(t *testing.T) {
	inBubble(t, testcluster.Options{Policies: []policy.Policy{limited(10)}}, func(t *testing.T, c *testcluster.Cluster) {
		n1 := c.Start("n1", testcluster.NodeOptions{})
		n2 := c.Start("n2", testcluster.NodeOptions{Policies: []policy.Policy{limited(20)}})
		c.Await(10*time.Second, "two nodes", func() bool { return c.Agree() && c.Connected() })
		if a, b := ask(t, n1, "k"), ask(t, n2, "k"); a.Limit != 10 || b.Limit != 20 {
			t.Errorf("limits %d and %d", a.Limit, b.Limit)
		}
	})
}

func TestNodesThatCannotStart(t *testing.T) {
	inBubble(t, testcluster.Options{}, func(t *testing.T, c *testcluster.Cluster) {
		c.Start("n1", testcluster.NodeOptions{})
		for what, row := range map[string]struct {
			name string
			o    testcluster.NodeOptions
		}{
			"running already":     {"n1", testcluster.NodeOptions{}},
			"a bad name":          {"no good", testcluster.NodeOptions{}},
			"a bad policy":        {"n2", testcluster.NodeOptions{Policies: []policy.Policy{{Name: "api"}}}},
			"a client of nobody":  {"n3", testcluster.NodeOptions{Role: cluster.RoleClient, Join: []string{}}},
			"a role that is none": {"n4", testcluster.NodeOptions{Role: "king"}},
		} {
			if n, err := c.TryStart(row.name, row.o); err == nil || n != nil {
				t.Errorf("%s: started, %v", what, err)
			}
		}
		c.Start("n3", testcluster.NodeOptions{})
		c.Await(10*time.Second, "the other two", func() bool { return c.Agree() && c.Connected() })
		if n := len(c.Nodes()); n != 2 {
			t.Errorf("%d nodes run", n)
		}
	})
}

// Real time, with the race detector if it is there.
func TestClusterOnRealTime(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, testcluster.Options{Policies: []policy.Policy{limited(40)}, Deadline: 5 * time.Second})
	for _, name := range []string{"n1", "n2", "n3"} {
		c.Start(name, testcluster.NodeOptions{})
	}
	c.Await(time.Minute, "the cluster to form", func() bool { return c.Agree() && c.Connected() })
	if got := crowd(t, c.Nodes(), "k", 300); got != 40 {
		t.Errorf("admitted %d, want 40", got)
	}
	key := keyOf(t, c.Node("n1"), "n2")
	c.Kill("n2")
	if _, err := c.Node("n1").Check(t.Context(), policy.Request{Policy: "api", Key: key}); !errors.Is(err, cluster.ErrUnreachable) {
		t.Errorf("asked the dead: %v", err)
	}
}

// A node that looks for one that was never started does not find itself.
func TestJoiningWhoIsNotThere(t *testing.T) {
	virtual(t)
	synctest.Test(t, func(t *testing.T) {
		c := testcluster.New(t, testcluster.Options{})
		first := c.Start("first", testcluster.NodeOptions{Join: []string{"later"}})
		if !first.Readiness().Alone {
			t.Errorf("ready as %+v", first.Readiness())
		}
		later := c.Start("later", testcluster.NodeOptions{Join: []string{}})
		if first.PeerAddr().String() == later.PeerAddr().String() {
			t.Errorf("both are at %v", later.PeerAddr())
		}
		c.Await(10*time.Second, "the two to find each other", c.Agree)
	})
}
