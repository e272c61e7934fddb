package ring

import "math/bits"

// Partitions is the number of partitions that keys fall into.
const Partitions = 4093

// MaxMembers bounds a ring: with more, some members would own nothing.
const MaxMembers = Partitions

// Ring is one immutable assignment of partitions to members. It is safe for
// concurrent use. Only [Build] makes one.
type Ring struct {
	members []string
	// owners holds, for each partition, an index into members.
	owners [Partitions]uint16
	// owned counts each member's partitions.
	owned  []int
	digest uint64
}

// Members returns the members' ids in ascending order, for reading only. An
// index into it is what [Ring.Owner] returns.
func (r *Ring) Members() []string { return r.members }

// Partition returns the partition, 0 to Partitions-1, of a subject whose
// fingerprint has the given upper half: floor(hi × Partitions / 2^64). The
// mapping is the same in every ring. For uniformly distributed hi no
// partition is likelier than another by more than one part in 2^51.
func (*Ring) Partition(hi uint64) int {
	partition, _ := bits.Mul64(hi, Partitions)
	return int(partition)
}

// Owner returns the index into Members of the partition's owner, or -1 in a
// ring without members. It panics if partition is not 0 to Partitions-1.
func (r *Ring) Owner(partition int) int {
	if len(r.members) == 0 {
		return -1
	}
	return int(r.owners[partition])
}

// Owned returns the share of all partitions, 0 to 1, that the member with
// the given index into Members owns; 0 if there is no such member.
func (r *Ring) Owned(index int) float64 {
	if index < 0 || index >= len(r.owned) {
		return 0
	}
	return float64(r.owned[index]) / Partitions
}

// Digest identifies the ring: a hash of its members and of every partition's
// owner. Nodes with equal digests agree on every owner.
func (r *Ring) Digest() uint64 { return r.digest }
