package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/murmurate/murmurate/ring"
)

// apply merges entries into the placement, defends this node's place in it,
// and swaps the View if something in it changes. On an error nothing has
// changed. The caller holds mu.
func (m *Membership) apply(entries []placed) error {
	now := time.Now()
	next, changed := m.placement.merge(entries, now, m.knownAlive)
	self := m.self
	if own, ok := next.records[self.ID]; ok && m.mustDefend(own.entry) {
		self.Incarnation = own.incarnation + 1
		claim := placed{id: self.ID, entry: entry{self.Incarnation, StateActive}}
		next, changed = next.merge([]placed{claim}, now, m.knownAlive)
	}
	if !changed {
		return nil
	}
	if len(next.records) > maxPlacement {
		return placementError("%d members together with those already known, at most %d", len(next.records), maxPlacement)
	}
	r := m.ring
	if owners := next.owners(); !slices.Equal(owners, r.Members()) {
		var err error
		if r, err = ring.Build(owners); err != nil {
			return fmt.Errorf("build the ring: %w", err)
		}
		m.log.Info("placement changed", "owners", owners, "digest", fmt.Sprintf("%016x", r.Digest()))
	}
	if self != m.self {
		m.self = self
		signal(m.announcing)
	}
	m.placement, m.ring = next, r
	signal(m.saving)
	m.buildView(m.table.boots())
	return nil
}

// knownAlive reports whether a member with this id is known to live at this
// incarnation or above.
func (m *Membership) knownAlive(id string, incarnation uint64) bool {
	return id == m.self.ID || m.table.alive(id, incarnation)
}

// mustDefend reports whether this active owner has to claim its place anew,
// at a higher incarnation: the others have a word on it that is not its own,
// such as one from before its clock was set back, or an eviction while it
// was cut off. If a live node stands behind that word, there is a rivalry to
// settle instead.
func (m *Membership) mustDefend(own entry) bool {
	if !m.owns() || !own.over(entry{m.self.Incarnation, StateActive}) {
		return false
	}
	return own.state != StateActive || !m.table.alive(m.self.ID, own.incarnation)
}

// owns reports whether this node claims partitions.
func (m *Membership) owns() bool {
	return m.self.Role == RoleOwner && m.self.State == StateActive
}

// refresh brings placement, sessions and View up to what gossip knows.
func (m *Membership) refresh(ctx context.Context) {
	m.mu.Lock()
	opened, ended := m.follow()
	for _, b := range m.table.takeGone() {
		m.missed(ctx, b, time.Now())
	}
	m.mu.Unlock()
	for _, s := range ended {
		m.log.Info("a member is gone, or its boot is", "member", s.boot.ID, "address", s.boot.Address)
		s.peer.Close()
	}
	for _, s := range opened {
		m.log.Info("a member has appeared", "member", s.boot.ID, "address", s.boot.Address)
	}
}

// follow is refresh under mu. It returns the sessions that were opened, and
// those to close.
func (m *Membership) follow() (opened, ended []*session) {
	boots := m.table.boots()
	var entries []placed
	for _, b := range boots {
		// What an owner says of itself is as good as what others say of it.
		if b.Role == RoleOwner && b.State >= StateActive && b.State <= StateLeft {
			entries = append(entries, placed{id: b.ID, entry: entry{b.Incarnation, b.State}})
		}
	}
	chosen := serving(boots)
	for _, b := range m.table.lostBoots() {
		if _, replaced := chosen[b.ID]; !replaced && m.sessions.answers(b) {
			chosen[b.ID] = b
		}
	}
	opened, ended = m.sessions.follow(m.self.ID, chosen)
	if err := m.apply(entries); err != nil {
		m.log.Error("cannot follow gossip", "error", err)
	}
	m.buildView(boots)
	m.table.keepLost(m.wanted(boots))
	return opened, ended
}

// wanted returns which lost boots to go on looking for: those whose place
// nobody has given up or taken.
func (m *Membership) wanted(boots []boot) func(boot) bool {
	live := serving(boots)
	return func(b boot) bool {
		_, replaced := live[b.ID]
		return !replaced && b.ID != m.self.ID && m.placement.records[b.ID].state == StateActive
	}
}

// buildView swaps the View if what it is made of has changed. The caller
// holds mu.
func (m *Membership) buildView(boots []boot) {
	parts := viewParts{ring: m.visibleRing(), sessions: m.sessions.generation, clients: m.countClients(boots)}
	if parts == m.built {
		return
	}
	m.built = parts
	m.view.Store(newView(m.self.ID, m.self.Role, parts.ring, m.sessions.peers(), parts.clients))
}

func (m *Membership) countClients(boots []boot) int {
	n := 0
	if m.self.Role == RoleClient {
		n++
	}
	for _, b := range serving(boots) {
		if b.Role == RoleClient && b.ID != m.self.ID {
			n++
		}
	}
	return n
}

// visibleRing is the ring that this node acts by.
func (m *Membership) visibleRing() *ring.Ring {
	switch {
	case !m.progress.admitted:
		// Another node may hold this one's name: decide for nobody yet.
		return m.rings.empty
	case m.self.Role == RoleOwner && m.self.State >= StateLeaving && !m.progress.activated.IsZero() && len(m.ring.Members()) == 0:
		// The last owner has nobody to leave its keys to.
		return m.rings.lone
	}
	return m.ring
}
