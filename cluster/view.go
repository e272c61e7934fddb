package cluster

import (
	"slices"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/ring"
)

// Role says whether a member owns partitions.
type Role string

const (
	// RoleOwner owns partitions. The default.
	RoleOwner Role = "owner"
	// RoleClient routes and forwards, and owns nothing.
	RoleClient Role = "client"
)

// Member is what gossip says of one node.
type Member struct {
	// ID is the stable name of the node, unique in the cluster.
	ID string
	// Incarnation orders the boots of one ID.
	Incarnation uint64
	// Address is where the member's peer port is, as host:port.
	Address string
	// Role says whether it owns partitions.
	Role Role
	// State is the member's own word on its life.
	State State
	// Version is the product version it runs.
	Version string
}

// View is one immutable picture of the cluster. It is swapped whole; a check
// holds one View from start to finish.
type View struct {
	// Self is this node's id.
	Self string
	// Role is this node's.
	Role Role
	// Ring assigns partitions to the placed members. A client that knows no
	// owner yet has a ring without members.
	Ring *ring.Ring
	// Digest identifies the placement: equal digests, equal owners.
	Digest uint64
	// Clients is the number of live members in the client role.
	Clients int
	// peers holds the session of each ring member, by ring index. The entry
	// of this node, and of a placed member that gossip does not know at the
	// moment, is nil.
	peers []Peer
}

// owner returns the index of the ring member that owns subject, or -1 if the
// ring is empty.
func (v *View) owner(subject limiter.Subject) int {
	return v.Ring.Owner(v.Ring.Partition(subject.Hi))
}

// self reports whether ring member i is this node.
func (v *View) self(i int) bool { return v.Ring.Members()[i] == v.Self }

// owns reports whether this node owns subject.
func (v *View) owns(subject limiter.Subject) bool {
	i := v.owner(subject)
	return i >= 0 && v.self(i)
}

// memberID is the id of ring member i, empty for none.
func (v *View) memberID(i int) string {
	if i < 0 {
		return ""
	}
	return v.Ring.Members()[i]
}

// Peers are the sessions to the other owners, as far as gossip knows them.
func (v *View) Peers() []Peer {
	return slices.DeleteFunc(slices.Clone(v.peers), func(p Peer) bool { return p == nil })
}

// OwnerID is the id of the member that owns subject, empty for none.
func (v *View) OwnerID(subject limiter.Subject) string { return v.memberID(v.owner(subject)) }
