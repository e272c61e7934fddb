package cluster

import (
	"fmt"
	"net"

	"github.com/hashicorp/memberlist"
)

// delegate is what memberlist asks of a Membership, besides telling its
// gossipTable about events.
type delegate struct{ m *Membership }

// NodeMeta is what this node gossips of itself. The Membership's options
// were checked so that it fits.
func (d delegate) NodeMeta(int) []byte { return d.m.meta() }

// LocalState is the placement, for a push/pull.
func (d delegate) LocalState(bool) []byte { return d.m.State() }

// MergeRemoteState merges the placement of a push/pull. memberlist calls it
// without holding its locks.
func (d delegate) MergeRemoteState(b []byte, _ bool) {
	if err := d.m.Merge(b); err != nil {
		d.m.log.Warn("ignored the placement of a gossip peer", "error", err)
		return
	}
	d.m.contact()
}

// NotifyMsg and GetBroadcasts belong to user messages, of which there are
// none: memberlist's queue for them may drop and reorder.
func (d delegate) NotifyMsg([]byte) {}

// GetBroadcasts has nothing to send.
func (d delegate) GetBroadcasts(int, int) [][]byte { return nil }

// NotifyAlive refuses a node that cannot be a member.
func (d delegate) NotifyAlive(n *memberlist.Node) error {
	if n.Name == d.m.table.self {
		return nil
	}
	return d.m.admissible(n)
}

// NotifyMerge refuses to join a cluster that has a node which cannot be a
// member of this one.
func (d delegate) NotifyMerge(nodes []*memberlist.Node) error {
	for _, n := range nodes {
		if n.State != memberlist.StateAlive || n.Name == d.m.table.self {
			continue
		}
		if err := d.m.admissible(n); err != nil {
			return err
		}
	}
	return nil
}

// refusalMark begins what admissible says, so that gossipLog knows it again.
const refusalMark = "refused the node"

// admissible returns why the node cannot be a member, or nil.
func (m *Membership) admissible(n *memberlist.Node) error {
	meta, err := decodeMeta(n.Meta)
	if err == nil {
		err = meta.fits(m.o.Shared)
	}
	if err == nil {
		return nil
	}
	refusal := fmt.Errorf("%s %s %w", refusalMark, net.JoinHostPort(n.Addr.String(), fmt.Sprint(n.Port)), err)
	if m.refused.first(n.Addr.String()) {
		m.log.Warn(refusal.Error())
	}
	return refusal
}
