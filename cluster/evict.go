package cluster

import (
	"errors"
	"fmt"
	"time"
)

// DefaultEvictAfter is how long a member may be out of reach before the others
// take its place away.
const DefaultEvictAfter = 5 * time.Minute

// Why [Membership.Evict] refuses.
var (
	// ErrNoMember: no member with this id has a place.
	ErrNoMember = errors.New("no member of this name has a place in the cluster")
	// ErrMemberAlive: the member is within reach, and would be back at once.
	ErrMemberAlive = errors.New("the member is alive")
	// ErrMinority: this node reaches fewer than half of the members, so that it
	// may well be the one that is cut off.
	ErrMinority = errors.New("this node reaches fewer than half of the members")
)

// absences are since when other owners have been out of this node's reach.
type absences struct {
	since map[string]time.Time
	// majority is since when this node has been on the side of more than half
	// of the owners without a break; zero if it is not.
	majority time.Time
}

// look notes who of the owners is out of reach at now. absent lists those.
func (a *absences) look(now time.Time, owners int, absent []string) {
	since := make(map[string]time.Time, len(absent))
	for _, id := range absent {
		since[id] = now
		if before, known := a.since[id]; known {
			since[id] = before
		}
	}
	a.since = since
	switch {
	case !majority(owners-len(absent), owners):
		a.majority = time.Time{}
	case a.majority.IsZero():
		a.majority = now
	}
}

// overdue reports whether the member has been out of reach for that long, all
// the while on the side of the majority.
func (a *absences) overdue(id string, now time.Time, after time.Duration) bool {
	since, absent := a.since[id]
	if !absent || a.majority.IsZero() {
		return false
	}
	if a.majority.After(since) {
		since = a.majority
	}
	return now.Sub(since) >= after
}

// majority reports whether some members are more than half of all.
func majority(some, all int) bool { return 2*some > all }

// evictAbsent takes the places of owners away that have been out of reach for
// too long. The caller holds mu.
func (m *Membership) evictAbsent(now time.Time) {
	if !m.owns() {
		return
	}
	m.absences.look(now, len(m.ring.Members()), m.absent())
	var gone []string
	for _, id := range m.ring.Members() {
		if m.absences.overdue(id, now, m.o.EvictAfter) && !m.seen(id) {
			gone = append(gone, id)
		}
	}
	for _, id := range gone {
		m.log.Warn("a member has been out of reach for too long: its place goes to the others",
			"member", id, "after", m.o.EvictAfter)
		if err := m.evict(id); err != nil {
			m.log.Error("cannot take a member's place away", "member", id, "error", err)
		}
	}
}

// absent lists the owners that this node does not reach.
func (m *Membership) absent() []string {
	var absent []string
	for _, id := range m.ring.Members() {
		if id != m.self.ID && !m.reaches(id) {
			absent = append(absent, id)
		}
	}
	return absent
}

// seen reports whether gossip knows the member alive: others reach it, and it
// would claim its place anew.
func (m *Membership) seen(id string) bool {
	return m.table.alive(id, m.placement.records[id].incarnation)
}

// evict gives the place of a member to the others, and tells them.
func (m *Membership) evict(id string) error {
	own := m.placement.records[id]
	if err := m.apply([]placed{{id: id, entry: entry{own.incarnation, StateEvicted}}}); err != nil {
		return err
	}
	signal(m.news)
	return nil
}

// Evict takes the place of a member away that is gone for good, without waiting
// until it has been out of reach for EvictAfter. If it comes back all the same,
// it claims its place anew.
//
// [ErrNoMember], [ErrMemberAlive] and [ErrMinority] say why not. The last one
// force overrules: it is for the survivors of a cluster most of which is lost.
// If the others live on elsewhere, both sides then admit every limit in full.
func (m *Membership) Evict(id string, force bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	owners, absent := len(m.ring.Members()), len(m.absent())
	switch {
	case m.placement.records[id].state != StateActive:
		return fmt.Errorf("%w: %q", ErrNoMember, id)
	case id == m.self.ID || m.reaches(id) || m.seen(id):
		return fmt.Errorf("%w: %q; stop it first, with SIGTERM", ErrMemberAlive, id)
	case !force && 2*(owners-absent) < owners:
		return fmt.Errorf("%w, %d of %d: ask one on the other side, or use force if the others are gone for good",
			ErrMinority, owners-absent, owners)
	}
	m.log.Warn("a member's place is taken away by hand", "member", id)
	return m.evict(id)
}
