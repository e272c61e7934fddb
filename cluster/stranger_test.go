package cluster

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
)

var testKeys = [2][]byte{[]byte("0123456789abcdef0123456789abcdef"), []byte("fedcba9876543210fedcba9876543210")}

func TestStrangerNeverBecomesAMember(t *testing.T) {
	key := func(k []byte) func(*MembershipOptions) { return func(o *MembershipOptions) { o.GossipKey = k } }
	for _, tc := range []struct {
		name           string
		member, other  func(*MembershipOptions)
		newcomer, seed string // what each says
	}{
		{
			"another label", key(testKeys[0]),
			func(o *MembershipOptions) { o.GossipKey, o.Label = testKeys[0], "other" },
			"has another cluster.label", "another cluster.label",
		},
		{
			"another label, no secret", key(nil),
			func(o *MembershipOptions) { o.Label = "other" },
			"has another cluster.label", "another cluster.label",
		},
		{"another secret", key(testKeys[0]), key(testKeys[1]), "has another cluster.secret", "another cluster.secret"},
		{"no secret", key(testKeys[0]), key(nil), "has a cluster.secret, which this node has not", "without cluster.secret"},
		{"a secret where there is none", key(nil), key(testKeys[0]), "has no cluster.secret", "which this node has not"},
		{
			"another identity key", key(testKeys[0]),
			func(o *MembershipOptions) { o.GossipKey, o.Shared = testKeys[0], 2 },
			"has another identity key", "has another identity key",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(c *testCluster) {
				n1 := c.start("n1", 1, nil, tc.member)
				c.log.reset()
				n2 := c.start("n2", 2, seedsOn(1), tc.other)
				c.await(4*time.Second, "the newcomer serves alone", formed("n2", n2))
				c.always(time.Minute, "they stay apart", func() bool {
					return formed("n1", n1)() && formed("n2", n2)() && len(n1.table.boots())+len(n2.table.boots()) == 0
				})
				if got := n2.detail("joined"); !strings.HasPrefix(got, "alone: the seed 10.0.0.1:7381 ") || !strings.Contains(got, tc.newcomer) {
					t.Errorf("the newcomer's readiness says %q, want %q", got, tc.newcomer)
				}
				lines := c.log.matching("node=n1", tc.seed)
				if lines == 0 || lines > 3 {
					t.Errorf("the member logs %q %d times in a minute, want once or so:\n%s", tc.seed, lines, c.log)
				}
				if n := len(n1.entryIDs()) + len(n2.entryIDs()); n != 2 {
					t.Errorf("placements %q and %q", n1.entryIDs(), n2.entryIDs())
				}
			})
		})
	}
}

func TestNewcomerWithANameInUseGivesWay(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		digest, entry := n1.Digest(), n1.entryOf("n2")
		again := c.start("n2", 4, seedsOn(1, 3))
		var err error
		c.await(3*time.Second, "the newcomer fails", func() bool {
			select {
			case err = <-again.Failed():
				return true
			default:
				return false
			}
		})
		if !errors.Is(err, ErrDuplicate) || !strings.Contains(err.Error(), "10.0.0.2:7382") || !strings.Contains(err.Error(), "--name") {
			t.Errorf("error %v", err)
		}
		if again.Readiness().Ready || again.owners() != "" {
			t.Errorf("the newcomer is %+v and decides for %q", again.Readiness(), again.owners())
		}
		again.leave()
		c.always(time.Minute, "the older one is undisturbed", func() bool {
			return formed("n1 n2 n3", n1, n2, n3)() && n1.Digest() == digest && n1.entryOf("n2") == entry && n1.reaches("n2")
		})
		if got := n1.sessions.total(); got != 2 {
			t.Errorf("n1 opened %d sessions, want 2: it was drawn to the newcomer", got)
		}
	})
}

// The older one has had no contact either, until the newcomer called.
func TestNewcomerGivesWayToALoneNode(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		older := c.start("n", 1, nil)
		time.Sleep(time.Second)
		newcomer := c.start("n", 2, seedsOn(1))
		c.await(3*time.Second, "the newcomer fails", func() bool { return len(newcomer.Failed()) == 1 })
		newcomer.leave()
		c.always(time.Minute, "the older stays", func() bool { return formed("n", older)() && len(older.Failed()) == 0 })
	})
}

// Both became active while they could not see each other: the younger gives
// way, and the older takes its place again above it.
func TestTwoOfOneNameThatMeetLater(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		c.network.Cut(host(1), host(2))
		older := c.start("n", 1, nil)
		time.Sleep(time.Second)
		younger := c.start("n", 2, seedsOn(1))
		c.await(4*time.Second, "both serve alone", formed("n", older, younger))
		claim := younger.entryOf("n")
		c.network.Heal()
		c.await(5*time.Second, "the younger fails", func() bool { return len(younger.Failed()) == 1 })
		c.await(time.Second, "the older hears of its claim", func() bool { return !claim.over(older.entryOf("n")) })
		younger.leave()
		c.await(3*time.Second, "the older claims its place", func() bool { return older.entryOf("n").over(claim) })
		c.always(time.Minute, "the older stays", func() bool { return formed("n", older)() && len(older.Failed()) == 0 })
	})
}

// A node that was stopped and replaced meanwhile finds another in its place.
func TestReplacedNodeGivesWay(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		n1, n2, n3 := c.three()
		for _, n := range []int{1, 3, 4} {
			c.network.Cut(n2.host, host(n))
		}
		time.Sleep(time.Minute)
		again := c.start("n2", 4, seedsOn(1, 3))
		c.await(3*time.Second, "the replacement is in place", formed("n1 n2 n3", n1, again, n3))
		c.network.Heal()
		c.await(20*time.Second, "the replaced node fails", func() bool { return len(n2.Failed()) == 1 })
		n2.leave()
		c.always(time.Minute, "the replacement stays", func() bool {
			return formed("n1 n2 n3", n1, again, n3)() && len(again.Failed()) == 0
		})
	})
}

func TestRandomBytesChangeNothing(t *testing.T) {
	for name, key := range map[string][]byte{"plain": nil, "encrypted": testKeys[0]} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(c *testCluster) {
				withKey := func(o *MembershipOptions) { o.GossipKey = key }
				n1 := c.start("n1", 1, nil, withKey)
				n2 := c.start("n2", 2, seedsOn(1), withKey)
				c.await(5*time.Second, "two nodes form", formed("n1 n2", n1, n2))
				view, state := n1.View(), string(n1.State())
				attacker, err := c.network.Host(host(9)).ListenGossip(7381)
				if err != nil {
					t.Fatal(err)
				}
				defer attacker.Shutdown()
				rng := rand.New(rand.NewPCG(7, 7))
				for i := range 2000 {
					bombard(t, attacker, n1.GossipAddress(), garbage(rng), i%10 == 0)
				}
				c.always(30*time.Second, "the view stays", func() bool { return n1.View() == view && string(n1.State()) == state })
				if lines := strings.Count(c.log.String(), "level=WARN"); lines > 20 {
					t.Errorf("garbage fills the log with %d lines\n%s", lines, c.log)
				}
			})
		})
	}
}

// garbage is random bytes, mostly behind a valid label, which anybody can see
// on the wire, and often behind a valid message type.
func garbage(rng *rand.Rand) []byte {
	b := make([]byte, 1+rng.IntN(200))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	if rng.IntN(3) > 0 {
		b[0] = byte(rng.IntN(14))
		labelled, err := memberlist.AddLabelHeaderToPacket(b, "test")
		if err == nil {
			return labelled
		}
	}
	return b
}

// bombard sends b to the node at addr as a packet, and as a stream too.
func bombard(t *testing.T, from memberlist.Transport, addr netip.AddrPort, b []byte, stream bool) {
	t.Helper()
	if _, err := from.WriteTo(b, addr.String()); err != nil {
		t.Fatal(err)
	}
	if !stream {
		return
	}
	conn, err := from.DialTimeout(addr.String(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Write(b)
	if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
}
