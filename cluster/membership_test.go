package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestThreeNodesForm(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		for _, n := range []*testNode{n1, n2, n3} {
			if got, want := n.Digest(), n1.Digest(); got != want {
				t.Errorf("%s has digest %x, n1 %x", n.View().Self, got, want)
			}
			for i, id := range n.View().Ring.Members() {
				if self := id == n.View().Self; (n.View().peers[i] == nil) != self {
					t.Errorf("%s has peer %v for %s", n.View().Self, n.View().peers[i], id)
				}
			}
			for _, condition := range n.Readiness().Conditions {
				if !condition.OK || condition.Detail != "" {
					t.Errorf("%s: condition %+v", n.View().Self, condition)
				}
			}
		}
		owned := 0.0
		for _, s := range n1.Members() {
			owned += s.Owned
			if !s.Reachable || !s.Placed || s.State != StateActive || s.Version != "test" {
				t.Errorf("n1 lists %+v", s)
			}
		}
		if owned < 0.999 || owned > 1.001 {
			t.Errorf("the members own %v of the partitions", owned)
		}
	})
}

func TestNodeWithoutSeedsServesAtOnce(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n := c.start("n1", 1, nil)
		if r := n.Readiness(); !r.Ready || r.Alone || n.owners() != "n1" {
			t.Errorf("right after the start: readiness %+v, owners %q", r, n.owners())
		}
	})
}

func TestNodeBeforeItsPeersServesAloneAndJoinsLater(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1 := c.start("n1", 1, seedsOn(2))
		if v := n1.View(); len(v.Ring.Members()) != 0 {
			t.Errorf("decides for %q before it knows whether somebody else does", v.Ring.Members())
		}
		took := c.await(4*time.Second, "n1 serves alone", formed("n1", n1))
		if took < alonePatience {
			t.Errorf("served alone after %v, want it to look for %v", took, alonePatience)
		}
		if r := n1.Readiness(); !r.Alone || !strings.HasPrefix(n1.detail("joined"), "alone: the seed 10.0.0.2:7381 refuses") {
			t.Errorf("readiness %+v", r)
		}
		n2 := c.start("n2", 2, nil)
		c.await(3*time.Second, "n1 finds n2", formed("n1 n2", n1, n2))
		if r := n1.Readiness(); r.Alone || n1.detail("joined") != "" {
			t.Errorf("readiness after joining %+v", r)
		}
	})
}

func TestCrashMovesNoPartition(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		digest := n1.Digest()
		n2.Close()
		c.await(20*time.Second, "the session to n2 ends", func() bool {
			return n1.sessions.open() == 1 && n3.sessions.open() == 1
		})
		c.always(2*time.Minute, "n2 keeps its place, and the others stay ready", func() bool {
			return n1.Digest() == digest && formed("n1 n2 n3", n1, n3)()
		})
		if got := n1.detail("peers"); !strings.HasPrefix(got, "1 of 3 owners out of reach: n2") {
			t.Errorf("peers: %q", got)
		}
		for _, s := range n1.Members() {
			if want := s.ID != "n2"; s.Reachable != want || !s.Placed || s.Address == "" {
				t.Errorf("lists %+v", s)
			}
		}
	})
}

func TestRestartKeepsThePlace(t *testing.T) {
	for _, tc := range []struct {
		name string
		host int
		// down is how long the node is away: shorter and longer than gossip
		// takes to declare it dead.
		down   time.Duration
		within time.Duration
	}{
		{"at once", 2, 0, 2 * time.Second},
		{"at once, elsewhere", 4, 0, probePatience + 2*time.Second},
		{"after a minute", 2, time.Minute, 2 * time.Second},
		{"after a minute, elsewhere", 4, time.Minute, 2 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(c *testCluster) {
				n1, n2, n3 := c.three()
				digest, before := n1.Digest(), n1.entryOf("n2")
				n2.Close()
				time.Sleep(tc.down)
				n2 = c.start("n2", tc.host, seedsOn(1, 2, 3))
				c.await(tc.within, "n2 is back in its place", formed("n1 n2 n3", n2))
				c.await(2*time.Second, "n1 and n3 have a session to it", func() bool {
					return n1.reaches("n2") && n3.reaches("n2")
				})
				if after := n1.entryOf("n2"); !after.over(before) || after.state != StateActive {
					t.Errorf("entry %+v became %+v", before, after)
				}
				c.always(time.Minute, "no partition has moved", func() bool {
					return n1.Digest() == digest && n2.Digest() == digest && n3.Digest() == digest
				})
			})
		})
	}
}

func TestRestartWithAClockSetBack(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		before := n1.entryOf("n2")
		n2.Close()
		n2 = c.start("n2", 2, seedsOn(1, 2, 3), func(o *MembershipOptions) { o.Incarnation = 5 })
		c.await(3*time.Second, "n2 is back in its place", formed("n1 n2 n3", n1, n2, n3))
		c.await(time.Second, "n2 is above its last run", func() bool { return n1.entryOf("n2").over(before) })
	})
}

func TestGracefulLeave(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		start := time.Now()
		n2.leave()
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("leaving took %v", took)
		}
		c.await(100*time.Millisecond, "the others have its partitions", formed("n1 n3", n1, n3))
		if got := n1.entryOf("n2").state; got != StateLeft {
			t.Errorf("n2 is %v", got)
		}
		c.await(time.Second, "its sessions end", func() bool { return n1.sessions.open() == 1 && n3.sessions.open() == 1 })
		if n := len(n1.table.lostBoots()); n != 0 {
			t.Errorf("n1 still looks for %d members", n)
		}
		if n := n2.sessions.open(); n != 0 {
			t.Errorf("n2 left %d sessions open", n)
		}
		n2.leave() // again
		n2.Close()
	})
}

func TestLastOwnerAnswersToTheEnd(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n := c.start("n1", 1, nil)
		n.leave()
		if n.owners() != "n1" {
			t.Errorf("owners after leaving: %q", n.owners())
		}
		if n.Readiness().Ready {
			t.Error("still ready")
		}
	})
}

func TestLongPartitionHeals(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		for _, seconds := range []int{5, 20, 35, 36, 37, 38, 39, 40, 41, 42, 43, 60, 600} {
			cut := time.Duration(seconds) * time.Second
			c.network.Cut(n1.host, n2.host)
			c.network.Cut(n1.host, n3.host)
			time.Sleep(cut)
			c.network.Heal()
			took := c.await(10*time.Second, "all see each other again, and an evicted one has its place", func() bool {
				return len(n1.table.boots()) == 2 && len(n2.table.boots()) == 2 && len(n3.table.boots()) == 2 &&
					formed("n1 n2 n3", n1, n2, n3)()
			})
			t.Logf("a cut of %v healed in %v", cut, took)
		}
	})
}

// A live node that the others have written off, as after an eviction while it
// was cut off, claims its place at a new incarnation.
func TestWrittenOffNodeComesBack(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		for _, state := range []State{StateLeft, StateEvicted} {
			own := n2.entryOf("n2")
			verdict := placed{id: "n2", entry: entry{own.incarnation, state}}
			if err := n1.Merge(encodePlacement(1, []placed{verdict})); err != nil {
				t.Fatal(err)
			}
			if got := n1.owners(); got != "n1 n3" {
				t.Errorf("right after merging, n1 has owners %q", got)
			}
			c.await(3*time.Second, "n2 is back", func() bool {
				return formed("n1 n2 n3", n1, n2, n3)() && n1.entryOf("n2").over(own)
			})
		}
	})
}

// What one node has heard of members that nobody sees alive reaches all.
func TestNewsOfThePlacementTravels(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		absent := placed{id: "absent", entry: entry{1, StateActive}}
		if err := n1.Merge(encodePlacement(1, []placed{absent})); err != nil {
			t.Fatal(err)
		}
		c.await(time.Second, "all count on it", formed("absent n1 n2 n3", n1, n2, n3))
	})
}

func TestMergeOfGarbageChangesNothing(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n := c.start("n1", 1, nil)
		view, state := n.View(), n.State()
		full := make([]placed, maxPlacement)
		for i := range full {
			full[i] = placed{id: fmt.Sprintf("x%05d", i), entry: entry{1, StateLeft}}
		}
		for name, b := range map[string][]byte{
			"nothing":               nil,
			"half":                  state[:len(state)/2],
			"another cluster":       encodePlacement(2, nil),
			"too many, together":    encodePlacement(1, full),
			"a ring without bounds": encodePlacement(1, activeMembers(5000)),
		} {
			if err := n.Merge(b); err == nil {
				t.Errorf("%s: merged", name)
			}
		}
		if n.View() != view || string(n.State()) != string(state) {
			t.Errorf("the state became %q", n.State())
		}
	})
}

func activeMembers(n int) []placed {
	members := make([]placed, n)
	for i := range members {
		members[i] = placed{id: fmt.Sprintf("m%05d", i), entry: entry{1, StateActive}}
	}
	return members
}

func TestChangesOnBothSidesOfACutMeet(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		n4 := c.start("n4", 4, seedsOn(1))
		c.await(5*time.Second, "n4 joins", formed("n1 n2 n3 n4", n1, n2, n3, n4))
		for _, a := range []*testNode{n1, n4} {
			for _, b := range []*testNode{n2, n3} {
				c.network.Cut(a.host, b.host)
			}
			c.network.Cut(a.host, host(6))
		}
		c.network.Cut(n2.host, host(5))
		c.network.Cut(n3.host, host(5))
		time.Sleep(time.Minute)
		n5 := c.start("n5", 5, seedsOn(1))
		n6 := c.start("n6", 6, seedsOn(2))
		n3.leave()
		c.await(10*time.Second, "each side follows its own changes", func() bool {
			return formed("n1 n2 n3 n4 n5", n1, n4, n5)() && formed("n1 n2 n4 n6", n2, n6)()
		})
		c.network.Heal()
		c.await(10*time.Second, "both sides agree", formed("n1 n2 n4 n5 n6", n1, n2, n4, n5, n6))
	})
}

func TestClientNeverOwns(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		client := c.start("app", 4, seedsOn(1), func(o *MembershipOptions) { o.Role = RoleClient })
		c.await(5*time.Second, "the client is ready", formed("n1 n2 n3", client))
		c.await(2*time.Second, "everybody counts it", func() bool {
			return n1.View().Clients == 1 && n2.View().Clients == 1 && n3.View().Clients == 1 && client.View().Clients == 1
		})
		if n := client.sessions.open(); n != 3 {
			t.Errorf("the client has %d sessions, want 3", n)
		}
		if n := n1.sessions.open(); n != 2 {
			t.Errorf("n1 has %d sessions, want 2: clients are not called", n)
		}
		client.leave()
		c.await(2*time.Second, "nobody counts it any more", func() bool { return n1.View().Clients == 0 && n3.View().Clients == 0 })
		if !formed("n1 n2 n3", n1, n2, n3)() || n1.entryOf("app") != (entry{}) {
			t.Errorf("owners %q, entry of the client %+v", n1.owners(), n1.entryOf("app"))
		}
	})
}

func TestJoinsAndLeavesLeaveNothingBehind(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1 := c.start("n1", 1, nil)
		const cycles = 100
		for i := range cycles {
			id := "worker-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
			n := c.start(id, 10+i, seedsOn(1))
			c.await(5*time.Second, "a worker joins", formed("n1 "+id, n1, n))
			n.leave()
		}
		c.await(time.Second, "n1 owns all again", formed("n1", n1))
		c.await(time.Second, "no session is left", func() bool { return n1.sessions.open() == 0 })
		if got := n1.sessions.total(); got != cycles {
			t.Errorf("%d sessions were opened for %d boots", got, cycles)
		}
		time.Sleep(tombstoneLife + time.Minute)
		if ids := n1.entryIDs(); len(ids) != 1 {
			t.Errorf("the placement has %q, want n1 alone", ids)
		}
		if n := len(n1.table.boots()) + len(n1.table.lostBoots()); n != 0 {
			t.Errorf("gossip knows %d others", n)
		}
		if n := n1.gossip.NumMembers(); n != 1 {
			t.Errorf("memberlist knows %d members", n)
		}
	})
}

// Whoever waits for the owners to be known must find some in the View.
func TestOwnersKnownMeansThatThereAreSome(t *testing.T) {
	for name, row := range map[string]struct {
		peers  int
		within time.Duration
	}{"alone": {0, alonePatience + 2*lookInterval}, "with others": {2, time.Second}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(c *testCluster) {
				for i := range row.peers {
					c.start(fmt.Sprint("n", i+1), i+1, nil)
				}
				began := time.Now()
				n := c.start("n9", 9, []string{gossipAt(host(1)).String()})
				<-n.OwnersKnown()
				if len(n.View().Ring.Members()) == 0 {
					c.t.Error("no owner is known")
				}
				if took := time.Since(began); took > row.within {
					c.t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// A node that is told to leave before it has taken its place takes none.
func TestLeavingWhileJoining(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1 := c.start("n1", 1, nil)
		n2 := c.start("n2", 2, []string{gossipAt(host(1)).String()})
		time.Sleep(2 * lookInterval)
		if len(n1.View().Ring.Members()) != 1 {
			c.t.Fatal("it has its place already")
		}
		if err := n2.Drain(c.t.Context()); err != nil {
			c.t.Error(err)
		}
		c.always(5*time.Second, "n1 is the only owner", func() bool { return len(n1.View().Ring.Members()) == 1 })
		if err := n2.Leave(c.t.Context()); err != nil {
			c.t.Error(err)
		}
	})
}
