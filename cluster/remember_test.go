package cluster

import (
	"strings"
	"testing"
	"time"
)

// lastSaved is what the Save of one node was given last.
type lastSaved struct{ state []byte }

func (s *lastSaved) option(o *MembershipOptions) {
	o.Placement = s.state
	o.Save = func(state []byte) { s.state = state }
}

// A cluster is started anew as a whole. Each node acts by the places of the
// last run from the first moment on, so nobody decides for another's keys.
func TestPlacesOutliveARestartOfAll(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		var kept [3]lastSaved
		n1 := c.start("n1", 1, nil, kept[0].option)
		n2 := c.start("n2", 2, seedsOn(1), kept[1].option)
		n3 := c.start("n3", 3, seedsOn(1), kept[2].option)
		c.await(10*time.Second, "the cluster forms", formed("n1 n2 n3", n1, n2, n3))
		digest := n1.Digest()
		for _, n := range []*testNode{n1, n2, n3} {
			n.Close() // as a crash, without a farewell
		}

		first := c.start("n1", 1, nil, kept[0].option)
		if first.Digest() != digest || first.owners() != "n1 n2 n3" || !first.Readiness().Ready {
			t.Fatalf("n1 comes back and takes %q for owners", first.owners())
		}
		c.always(10*time.Second, "n1 leaves the others' keys alone", func() bool { return first.Digest() == digest })
		second := c.start("n2", 2, seedsOn(1), kept[1].option)
		third := c.start("n3", 3, seedsOn(1), kept[2].option)
		c.always(10*time.Second, "nobody moves", func() bool {
			for _, n := range []*testNode{first, second, third} {
				if owners := n.View().Ring.Members(); len(owners) != 0 && n.Digest() != digest {
					return false
				}
			}
			return true
		})
		c.await(time.Second, "all are ready", formed("n1 n2 n3", first, second, third))
	})
}

func TestPlacesThatCannotBeReadAreLeftOut(t *testing.T) {
	inBubble(t, func(c *testCluster) {
		for i, state := range [][]byte{[]byte("rubbish"), encodePlacement(2, nil)} {
			n := c.start("n1", 1, nil, func(o *MembershipOptions) { o.Placement = state })
			if n.owners() != "n1" || strings.Count(c.log.String(), "the members of the last run are not known") != i+1 {
				t.Errorf("state %d: owners %q, log %s", i, n.owners(), c.log)
			}
			n.Close()
		}
	})
}
