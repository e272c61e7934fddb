package testcluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

func whole(c *testcluster.Cluster) func() bool {
	return func() bool { return c.Agree() && c.Connected() }
}

func TestCutsHeal(t *testing.T) {
	for _, tc := range []struct {
		name string
		cut  func(c *testcluster.Cluster)
		// lost lists who does not reach whom then.
		lost map[string]string
	}{
		{"one from two", func(c *testcluster.Cluster) { c.Cut([]string{"n1"}, []string{"n2", "n3"}) }, map[string]string{"n1": "n2 n3", "n2": "n1", "n3": "n1"}},
		{"one from one", func(c *testcluster.Cluster) { c.Cut([]string{"n1"}, []string{"n2"}) }, map[string]string{"n1": "n2", "n2": "n1", "n3": ""}},
		{"one way", func(c *testcluster.Cluster) { c.CutOneWay([]string{"n1"}, []string{"n2"}) }, map[string]string{"n1": "n2", "n2": "n1", "n3": ""}},
		{"all from all", func(c *testcluster.Cluster) {
			all := []string{"n1", "n2", "n3"}
			c.Cut(all, all)
		}, map[string]string{"n1": "n2 n3", "n2": "n1 n3", "n3": "n1 n2"}},
		{"paused", func(c *testcluster.Cluster) { c.Pause("n3") }, map[string]string{"n1": "n3", "n2": "n3"}},
	} {
		for _, long := range []time.Duration{2 * time.Second, 10 * time.Second, time.Minute} {
			t.Run(fmt.Sprint(tc.name, " for ", long), func(t *testing.T) {
				running(t, 3, func(t *testing.T, c *testcluster.Cluster) {
					digest := c.Node("n1").Digest()
					tc.cut(c)
					c.Await(time.Second, "the sessions to be down", func() bool { return missing(c, tc.lost) })
					for asker := range tc.lost {
						for _, owner := range []string{"n1", "n2", "n3"} {
							d := ask(t, c.Node(asker), keyOf(t, c.Node(asker), owner))
							if lost := d.Source == limiter.SourceShare; lost != reachesNot(c, asker, owner) {
								t.Errorf("%s, about a key of %s: %+v", asker, owner, d)
							}
						}
					}
					time.Sleep(long)
					c.Heal()
					if n3 := c.Node("n3"); n3.Paused() {
						c.Resume("n3")
					}
					took := c.Await(10*time.Second, "the cluster to be whole", whole(c))
					t.Logf("healed after %v", took)
					if c.Node("n1").Digest() != digest {
						t.Error("keys have moved")
					}
					for _, n := range c.Nodes() {
						if d := ask(t, n, "other"); d.Source != limiter.SourceOwner {
							t.Errorf("%s after the heal: %+v", n.Name(), d)
						}
					}
				}, limited(1000))
			})
		}
	}
}

// missing reports whether exactly the sessions in lost are down.
func missing(c *testcluster.Cluster, lost map[string]string) bool {
	for name, want := range lost {
		got := ""
		for _, m := range c.Node(name).Members() {
			if !m.Reachable {
				got += " " + m.ID
			}
		}
		if len(got) > 0 {
			got = got[1:]
		}
		if got != want {
			return false
		}
	}
	return true
}

func reachesNot(c *testcluster.Cluster, asker, owner string) bool {
	for _, m := range c.Node(asker).Members() {
		if m.ID == owner {
			return !m.Reachable
		}
	}
	return true
}

func TestCountsAreExactOverABadNetwork(t *testing.T) {
	o := testcluster.Options{Policies: []policy.Policy{limited(40)}, Seed: 7, Deadline: 10 * time.Second}
	inBubble(t, o, func(t *testing.T, c *testcluster.Cluster) {
		c.Delay(time.Millisecond, 4*time.Millisecond)
		c.Loss(0.02)
		c.Duplicate(0.05)
		for i := range 3 {
			c.Start(fmt.Sprint("n", i+1), testcluster.NodeOptions{})
		}
		c.Slow("n3", 20*time.Millisecond)
		c.Await(30*time.Second, "the cluster to form", whole(c))
		for round := range 20 {
			c.Await(30*time.Second, "the sessions to be up", c.Connected)
			if got := crowd(t, c.Nodes(), fmt.Sprint(round), 200); got != 40 {
				t.Errorf("round %d: admitted %d, want 40", round, got)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestSlowNodeIsLate(t *testing.T) {
	running(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		key := keyOf(t, c.Node("n1"), "n2")
		for _, tc := range []struct {
			slow time.Duration
			took time.Duration
			want limiter.Source
		}{
			{0, 0, limiter.SourceOwner},
			{20 * time.Millisecond, 40 * time.Millisecond, limiter.SourceOwner},
			{40 * time.Millisecond, 50 * time.Millisecond, limiter.SourceShare},
			{0, 0, limiter.SourceOwner},
		} {
			c.Slow("n2", tc.slow)
			time.Sleep(5 * time.Second)
			start := time.Now()
			d := ask(t, c.Node("n1"), key)
			if took := time.Since(start); d.Source != tc.want || took != tc.took {
				t.Errorf("slow by %v: %v after %v, want %v after %v", tc.slow, d.Source, took, tc.want, tc.took)
			}
		}
	}, limited(1000))
}
