package cluster

import (
	"cmp"
	"slices"
)

// MemberStatus is what this node knows of one member.
type MemberStatus struct {
	Member
	// Reachable is set when this node's session to the member is up. It is
	// always set for this node itself, and never for other clients: they
	// call, and are not called.
	Reachable bool
	// Placed is set when the member owns partitions.
	Placed bool
	// Owned is its share of all partitions, 0 to 1.
	Owned float64
}

// Members returns the members that live or have a place, this node among
// them, in the order of their ids. Of a placed member that gossip has not
// known since this node started, only ID, Incarnation, Role and State are
// known.
func (m *Membership) Members() []MemberStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := make(map[string]Member)
	for id, r := range m.placement.records {
		if r.state == StateActive {
			known[id] = Member{ID: id, Incarnation: r.incarnation, Role: RoleOwner, State: r.state}
		}
	}
	for id, b := range serving(m.table.lostBoots()) {
		if _, placed := known[id]; placed {
			known[id] = b.Member
		}
	}
	for id, b := range serving(m.table.boots()) {
		known[id] = b.Member
	}
	known[m.self.ID] = m.self
	statuses := make([]MemberStatus, 0, len(known))
	for id, member := range known {
		s := MemberStatus{Member: member, Reachable: id == m.self.ID || m.reaches(id)}
		if i, placed := slices.BinarySearch(m.ring.Members(), id); placed {
			s.Placed, s.Owned = true, m.ring.Owned(i)
		}
		statuses = append(statuses, s)
	}
	slices.SortFunc(statuses, func(a, b MemberStatus) int { return cmp.Compare(a.ID, b.ID) })
	return statuses
}
