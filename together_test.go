package murmurate_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/testcluster"
)

// visit is one request of a user to a site: two calls whose subjects have
// different owners.
type visit struct{ user, site limiter.Call }

// visitOf makes a visit to a site that siteOwner owns by a user that
// userOwner does; different numbers are different people and places.
func visitOf(c *testcluster.Cluster, user, site int, userOwner, siteOwner string) visit {
	perHour := func(namespace, owner string, number int, count int64) limiter.Call {
		l := &limiter.Limit{Name: namespace, Algorithm: limiter.FixedWindow, Count: count, Period: time.Hour, Align: limiter.AlignFirst}
		for i := 0; ; i++ {
			if s, id := c.Node("n1").Owner(namespace, fmt.Sprint(number, "-", i)); id == owner {
				return limiter.Call{Subject: s, Charges: []limiter.Charge{{Limit: l, Tag: l.Tag(), Cost: 1}}}
			}
		}
	}
	return visit{perHour("user", userOwner, user, 5), perHour("site", siteOwner, site, 10)}
}

// sendAll makes n visits at one time through the named nodes in turn, and
// returns how many were admitted.
func sendAll(t *testing.T, c *testcluster.Cluster, v visit, n int, through ...string) int {
	var admitted atomic.Int64
	var sending sync.WaitGroup
	for i := range n {
		node := c.Node(through[i%len(through)])
		sending.Go(func() {
			asks := node.DoAll(t.Context(), v.site, v.user)
			if asks[0].Admitted() && asks[1].Admitted() {
				admitted.Add(1)
			}
		})
	}
	sending.Wait()
	return int(admitted.Load())
}

// remaining is what the user and the site have left, seen from a node.
func remaining(t *testing.T, c *testcluster.Cluster, v visit, from string) [2]int64 {
	t.Helper()
	v.user.Op, v.site.Op = limiter.Peek, limiter.Peek
	asks := c.Node(from).DoAll(t.Context(), v.user, v.site)
	if asks[0].Err != nil || asks[1].Err != nil {
		t.Fatal(asks[0].Err, asks[1].Err)
	}
	return [2]int64{asks[0].Results[0].Remaining, asks[1].Results[0].Remaining}
}

// A request that its narrow limit denies does not use up the broad one, and
// the other way round, also over the wire.
func TestAllOrNothingOverTheWire(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		c.Delay(200*time.Microsecond, time.Millisecond)
		names := []string{"n1", "n2", "n3"}
		for round := range 100 {
			userOwner, siteOwner := names[(round+1+round/3%2)%3], names[round%3]
			for i, want := range []int{5, 5, 0} {
				v := visitOf(c, 3*round+i, round, userOwner, siteOwner)
				if got := sendAll(t, c, v, 20, names...); got != want {
					t.Errorf("round %d, user %d: %d admitted, want %d", round, i, got, want)
				}
				if left, want := remaining(t, c, v, "n1"), [2]int64{int64(5 - want), int64(max(5-5*i, 0))}; left != want {
					t.Errorf("round %d, user %d: user and site have %d left, want %d", round, i, left, want)
				}
			}
		}
	})
}

// Links that are cut amid holds, confirmations and their answers leave
// nothing held, charge nobody twice, and admit nobody uncounted.
func TestAllOrNothingAcrossCuts(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		c.Delay(time.Millisecond, time.Millisecond)
		for round := range 12 {
			v := visitOf(c, round, round, "n2", "n3")
			cut := time.AfterFunc(time.Duration(round)*time.Millisecond, func() {
				if round%2 == 0 {
					c.CutOneWay([]string{"n2"}, []string{"n1"}) // answers are lost
				} else {
					c.Cut([]string{"n1"}, []string{"n3"})
				}
			})
			admitted := int64(sendAll(t, c, v, 4, "n1"))
			time.Sleep(100 * time.Millisecond) // whatever is on its way arrives, and holds lapse
			cut.Stop()
			c.Heal()
			c.Await(time.Minute, "the nodes to meet again", func() bool { return c.Agree() && c.Connected() })
			left := remaining(t, c, v, "n2")
			// The user's hold is confirmed once the site is charged, and not before.
			user, site := 5-left[0], 10-left[1]
			if admitted > user || user > site || site > 4 {
				t.Errorf("round %d: %d of 4 admitted; user and site have %d left of 5 and 10", round, admitted, left)
			}
			if got := int64(sendAll(t, c, v, 20, "n2", "n3")); got != left[0] {
				t.Errorf("round %d: afterwards %d admitted, want the %d that are left", round, got, left[0])
			}
		}
	})
}
