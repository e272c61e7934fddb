package transport

import "fmt"

// Identity is what a node says of itself when a connection opens.
type Identity struct {
	// ID is the stable name of the node, 1 to 255 bytes, unique in the cluster.
	ID string
	// Incarnation orders the boots of one ID. ID and incarnation together are
	// how a node recognises itself.
	Incarnation uint64
	// Cluster is a hash of what all nodes of a cluster must share (label,
	// ring, identity key). Nodes whose hashes differ do not talk.
	Cluster uint64
	// Version is the product version, at most 255 bytes, for people to read.
	Version string
}

// reason is why a connection is refused. The numbers travel between nodes:
// the list is closed and only appended to.
type reason uint8

const (
	reasonVersion reason = 1 + iota
	reasonCluster
	reasonSelf
	reasonOtherPeer
	reasonTLS
	reasonPlain
)

// refusal is the error of a handshake that one of the two nodes declined.
type refusal struct {
	reason reason
	detail string
	remote bool // the other node declined
}

func (r *refusal) Error() string {
	if r.remote {
		return "the peer refused the connection: " + r.detail
	}
	return r.detail
}

// judge says whether a node that introduced itself with h may talk to self.
// wanted is the id that the dialling side expects to reach, empty for any.
func judge(self Identity, h *hello, wanted string) *refusal {
	switch {
	case h.max < minProtocol || h.min > maxProtocol:
		return &refusal{reason: reasonVersion, detail: fmt.Sprintf(
			"no common protocol version: %q (version %q) speaks %d to %d, %q (version %q) speaks %d to %d; run versions of the product that are closer together",
			h.ID, h.Version, h.min, h.max, self.ID, self.Version, minProtocol, maxProtocol)}
	case h.Cluster != self.Cluster:
		return &refusal{reason: reasonCluster, detail: fmt.Sprintf(
			"%q belongs to another cluster than %q: label, identity key and protocol constants must be the same on all nodes", h.ID, self.ID)}
	case h.ID == self.ID && h.Incarnation == self.Incarnation:
		// Another node of this name is not refused: only by its answer can a
		// newcomer tell that the name is taken.
		return &refusal{reason: reasonSelf, detail: fmt.Sprintf(
			"%q dialled itself: its address is wrong somewhere", self.ID)}
	case wanted != "" && h.ID != wanted:
		return &refusal{reason: reasonOtherPeer, detail: fmt.Sprintf(
			"the address of %q belongs to %q now", wanted, h.ID)}
	case h.wanted != "" && h.wanted != self.ID:
		return &refusal{reason: reasonOtherPeer, detail: fmt.Sprintf(
			"%q was looking for %q, but this address belongs to %q now", h.ID, h.wanted, self.ID)}
	}
	return nil
}
