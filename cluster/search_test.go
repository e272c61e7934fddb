package cluster

import (
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
)

// A node that was started without seeds restarts so. It serves at once, and
// the others have to find it.
func TestRestartWithoutSeedsIsFoundSoon(t *testing.T) {
	crash, leave := (*testNode).Close, (*testNode).leave
	for _, tc := range []struct {
		name   string
		stop   func(*testNode)
		down   time.Duration
		within time.Duration
	}{
		{"left", leave, 0, time.Second},
		{"left, for 5 s", leave, 5 * time.Second, time.Second},
		{"left, for 25 s", leave, 25 * time.Second, time.Second},
		{"left, for a minute", leave, time.Minute, rejoinInterval + rejoinJitter},
		// However soon the node is back, its sessions stay down this long.
		{"crashed", crash, calmInterval + 50*time.Millisecond, time.Second},
		{"crashed, for 5 s", crash, 5 * time.Second, time.Second},
		{"crashed, for 30 s", crash, 30 * time.Second, time.Second},
		{"crashed, for a minute", crash, time.Minute, rejoinInterval + rejoinJitter},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(c *testCluster) {
				n1 := c.start("n1", 1, nil)
				n2, n3 := c.start("n2", 2, seedsOn(1)), c.start("n3", 3, seedsOn(1))
				c.await(10*time.Second, "three nodes form a cluster", formed("n1 n2 n3", n1, n2, n3))
				tc.stop(n1)
				time.Sleep(tc.down)
				n1 = c.start("n1", 1, nil)
				took := c.await(tc.within, "one cluster", formed("n1 n2 n3", n1, n2, n3))
				t.Logf("found after %v", took)
				c.await(time.Second, "no search is left", func() bool { return n2.searchCount()+n3.searchCount() == 0 })
				c.always(time.Minute, "it stays so", formed("n1 n2 n3", n1, n2, n3))
			})
		})
	}
}

// Two crashes, one soon after the other: gossip still lists both runs.
func TestCrashLoopWithoutSeedsIsFoundSoon(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1 := c.start("n1", 1, nil)
		n2, n3 := c.start("n2", 2, seedsOn(1)), c.start("n3", 3, seedsOn(1))
		c.await(10*time.Second, "three nodes form a cluster", formed("n1 n2 n3", n1, n2, n3))
		for range 3 {
			n1.Close()
			time.Sleep(calmInterval + 50*time.Millisecond)
			n1 = c.start("n1", 1, nil)
			c.await(time.Second, "one cluster", formed("n1 n2 n3", n1, n2, n3))
			time.Sleep(calmInterval + 50*time.Millisecond) // the others see its session up
		}
	})
}

// searchCount is the number of addresses that n tries at present.
func (n *testNode) searchCount() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.searches)
}

// dialCounter counts the streams that a node opens to one address.
type dialCounter struct {
	memberlist.Transport
	addr  string
	dials atomic.Int64
}

func (d *dialCounter) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	if addr == d.addr {
		d.dials.Add(1)
	}
	return d.Transport.DialTimeout(addr, timeout)
}

func TestMemberThatLeftForGoodCostsLittle(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		counter := &dialCounter{addr: gossipAt(host(2)).String()}
		n1 := c.start("n1", 1, nil, func(o *MembershipOptions) {
			counter.Transport, o.Transport = o.Transport, counter
		})
		n2, n3 := c.start("n2", 2, seedsOn(1)), c.start("n3", 3, seedsOn(1))
		c.await(10*time.Second, "three nodes form a cluster", formed("n1 n2 n3", n1, n2, n3))
		n2.leave()
		before := counter.dials.Load()
		c.log.reset()
		time.Sleep(searchLife + time.Second)
		tries := counter.dials.Load() - before
		if least, most := int64(searchLife/(searchInterval+searchJitter)), int64(searchLife/searchInterval); tries < least || tries > most {
			t.Errorf("tried %d times, want %d to %d", tries, least, most)
		}
		time.Sleep(time.Hour)
		if n := counter.dials.Load() - before; n != tries || n1.searchCount() != 0 {
			t.Errorf("%d more tries in the next hour, %d searches", n-tries, n1.searchCount())
		}
		if n := c.log.matching("node=n1"); n > 2 {
			t.Errorf("logged %d lines about it:\n%s", n, c.log)
		}
	})
}

// A node on its way out answers for as long as it listens, and is not taken
// back.
func TestSearchDoesNotDisturbANodeThatIsLeaving(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		ctx := c.t.Context()
		if err := n2.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		n2.retire(StateLeft)
		n2.tell(ctx)
		n2.farewell(ctx)
		c.await(time.Second, "the others look for it", func() bool { return n1.searchCount() == 1 && n3.searchCount() == 1 })
		c.always(searchLife+10*time.Second, "it stays away", func() bool {
			return formed("n1 n3", n1, n3)() && n2.owners() == "n1 n3" && len(n1.table.boots()) == 1 && len(n3.table.boots()) == 1
		})
		if n := n1.searchCount() + n3.searchCount(); n != 0 {
			t.Errorf("%d searches are left", n)
		}
		n2.leave()
		n2 = c.start("n2", 2, seedsOn(1))
		c.await(5*time.Second, "it comes back", formed("n1 n2 n3", n1, n2, n3))
	})
}

func TestSearchesAreBounded(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n := c.start("n1", 1, nil)
		for i := range 10 * maxSearches {
			n.table.gone = append(n.table.gone, boot{
				name: fmt.Sprint(i), gossip: gossipAt(host(10 + i)).String(), Member: Member{ID: fmt.Sprint(i), Role: RoleOwner},
			})
		}
		n.refresh(c.t.Context())
		if got := n.searchCount(); got != maxSearches {
			t.Errorf("%d searches, want %d", got, maxSearches)
		}
		time.Sleep(searchLife + time.Second)
		if got := n.searchCount(); got != 0 {
			t.Errorf("%d searches are left", got)
		}
	})
}

func TestManyNodesSearchInTurns(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n := c.start("n1", 1, nil)
		const nodes = 100
		n.table.mu.Lock()
		for i := range nodes {
			n.table.live[fmt.Sprint(i)] = boot{}
		}
		n.table.mu.Unlock()
		for range 100 {
			// All together a try every 25 ms or more.
			if pause := n.searchPause(); pause < nodes/searchers*searchInterval || pause > 7*time.Second {
				t.Fatalf("pause %v", pause)
			}
		}
	})
}
