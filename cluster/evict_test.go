package cluster

import (
	"errors"
	"testing"
	"time"
)

func TestOverdue(t *testing.T) {
	t.Parallel()
	const after = 5 * time.Minute
	start := time.Unix(1_000_000, 0)
	type step struct {
		at     time.Duration
		owners int
		absent []string
		gone   bool // n3 is overdue
	}
	tests := map[string][]step{
		"after five minutes, and not before": {
			{0, 3, []string{"n3"}, false}, {after - 1, 3, []string{"n3"}, false}, {after, 3, []string{"n3"}, true},
		},
		"one that was back in between": {
			{0, 3, []string{"n3"}, false}, {time.Minute, 3, nil, false},
			{2 * time.Minute, 3, []string{"n3"}, false}, {after, 3, []string{"n3"}, false}, {after + 2*time.Minute, 3, []string{"n3"}, true},
		},
		"a minority never":        {{0, 3, []string{"n2", "n3"}, false}, {time.Hour, 3, []string{"n2", "n3"}, false}},
		"nor half of the members": {{0, 2, []string{"n3"}, false}, {time.Hour, 2, []string{"n3"}, false}},
		"the time in the minority does not count": {
			{0, 3, []string{"n2", "n3"}, false}, {time.Hour, 3, []string{"n3"}, false},
			{time.Hour + after - 1, 3, []string{"n3"}, false}, {time.Hour + after, 3, []string{"n3"}, true},
		},
		"two of five at one time": {{0, 5, []string{"n3", "n5"}, false}, {after, 5, []string{"n3", "n5"}, true}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a absences
			for i, s := range steps {
				now := start.Add(s.at)
				a.look(now, s.owners, s.absent)
				if got := a.overdue("n3", now, after); got != s.gone {
					t.Errorf("step %d, at %v: overdue %v, want %v", i, s.at, got, s.gone)
				}
			}
		})
	}
}

func TestDeadMemberLosesItsPlace(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		n3.Close()
		c.always(DefaultEvictAfter-time.Second, "n3 keeps its place", func() bool {
			return n1.owners() == "n1 n2 n3" && n2.owners() == "n1 n2 n3"
		})
		c.await(5*time.Second, "the others have its place", formed("n1 n2", n1, n2))
		if got := n1.entryOf("n3").state; got != StateEvicted {
			t.Errorf("n3 is %v", got)
		}
		back := c.start("n3", 3, seedsOn(1, 2))
		c.await(10*time.Second, "n3 is back in its place", formed("n1 n2 n3", n1, n2, back))
	})
}

func TestMinorityEvictsNobody(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		c.network.Cut(n3.host, n1.host)
		c.network.Cut(n3.host, n2.host)
		c.await(DefaultEvictAfter+5*time.Second, "the majority evicts", formed("n1 n2", n1, n2))
		c.always(time.Hour, "the minority keeps everybody's place", func() bool { return n3.owners() == "n1 n2 n3" })
		c.network.Heal()
		c.await(10*time.Second, "the evicted claims its place anew", formed("n1 n2 n3", n1, n2, n3))
	})
}

// A member that others reach is not gone.
func TestMemberThatOthersSeeStays(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		c.network.Cut(n1.host, n3.host)
		c.always(time.Hour, "n3 has its place", func() bool {
			return n1.owners() == "n1 n2 n3" && n2.owners() == "n1 n2 n3" && n3.owners() == "n1 n2 n3"
		})
	})
}

func TestEvictByHand(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		refused := func(n *testNode, id string, force bool, want error) {
			t.Helper()
			if err := n.Evict(id, force); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		refused(n1, "n4", false, ErrNoMember)
		refused(n1, "n1", true, ErrMemberAlive)
		refused(n1, "n2", true, ErrMemberAlive)

		n3.Close()
		c.await(time.Minute, "n3 is found dead", func() bool { return n1.Evict("n3", false) == nil })
		c.await(time.Second, "all know", formed("n1 n2", n1, n2))
		refused(n2, "n3", false, ErrNoMember)

		n2.Close()
		c.await(time.Minute, "half of the members may, if a human says so", func() bool { return n1.Evict("n2", false) == nil })
		if got := n1.owners(); got != "n1" {
			t.Errorf("owners %q", got)
		}
	})
}

func TestEvictFromAMinority(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		n2.Close()
		n3.Close()
		time.Sleep(time.Minute)
		if err := n1.Evict("n3", false); !errors.Is(err, ErrMinority) {
			t.Errorf("one of three evicts: %v", err)
		}
		if err := n1.Evict("n3", true); err != nil {
			t.Errorf("by force: %v", err)
		}
		if got := n1.owners(); got != "n1 n2" {
			t.Errorf("owners %q", got)
		}
	})
}
