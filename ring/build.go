package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/buraksezer/consistent"
	"github.com/cespare/xxhash/v2"
)

// Constants of the protocol: a node with others would compute other owners.
const (
	// virtualNodes spread a member over the circle; beyond manyMembers fewer
	// do, because the time to build grows with the square of the members.
	virtualNodes     = 64
	virtualNodesMany = 20
	manyMembers      = 100
	// loadFactor bounds a member's partitions to this multiple of the mean.
	loadFactor = 1.25
)

// Parameters is a hash of everything besides the ids that decides who owns
// what. Nodes with different Parameters must not share a cluster.
func Parameters() uint64 {
	return xxhash.Sum64String(fmt.Sprintf(
		"consistent/1 partitions=%d virtual=%d many=%d/%d load=%s hash=xxhash64 partition=mulhi64",
		Partitions, virtualNodes, virtualNodesMany, manyMembers, strconv.FormatFloat(loadFactor, 'g', -1, 64)))
}

// Build assigns the partitions to the members with the given ids. Order and
// repetitions do not matter: the same set gives the same Ring everywhere.
// Without ids the ring has no owners. It returns an error for an empty id
// and for more than [MaxMembers] members.
func Build(ids []string) (*Ring, error) {
	members := slices.Clone(ids)
	slices.Sort(members)
	members = slices.Compact(members)
	switch {
	case len(members) > MaxMembers:
		return nil, fmt.Errorf("a ring has room for %d members, got %d; run the others in the client role", MaxMembers, len(members))
	case len(members) > 0 && members[0] == "":
		return nil, errors.New("a member's id must not be empty")
	}
	r := &Ring{members: members, owned: make([]int, len(members))}
	if len(members) > 0 {
		if err := r.assign(); err != nil {
			return nil, fmt.Errorf("assign partitions to %d members: %w", len(members), err)
		}
	}
	r.digest = r.hash()
	return r, nil
}

// member is a consistent.Member.
type member string

func (m member) String() string { return string(m) }

// hasher is the consistent.Hasher.
type hasher struct{}

func (hasher) Sum64(b []byte) uint64 { return xxhash.Sum64(b) }

// assign fills owners and owned. The object of the library is made anew each
// time, because one that members are added to and removed from remembers its
// history, and it reports what it cannot do by panicking.
func (r *Ring) assign() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("consistent: %v", p)
		}
	}()
	virtual := virtualNodes
	if len(r.members) > manyMembers {
		virtual = virtualNodesMany
	}
	index := make(map[string]uint16, len(r.members))
	members := make([]consistent.Member, len(r.members))
	for i, id := range r.members {
		index[id] = uint16(i)
		members[i] = member(id)
	}
	c := consistent.New(members, consistent.Config{
		Hasher:            hasher{},
		PartitionCount:    Partitions,
		ReplicationFactor: virtual,
		Load:              loadFactor,
	})
	for p := range r.owners {
		owner := index[c.GetPartitionOwner(p).String()]
		r.owners[p] = owner
		r.owned[owner]++
	}
	return nil
}

func (r *Ring) hash() uint64 {
	d := xxhash.New()
	var b []byte
	for _, id := range r.members {
		b = binary.AppendUvarint(b[:0], uint64(len(id)))
		b = append(b, id...)
		_, _ = d.Write(b)
	}
	b = b[:0]
	for _, owner := range r.owners {
		b = binary.LittleEndian.AppendUint16(b, owner)
	}
	_, _ = d.Write(b)
	return d.Sum64()
}
