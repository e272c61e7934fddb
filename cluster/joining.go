package cluster

import (
	"context"
	"hash/maphash"
	"slices"
	"time"
)

// How a node comes into its place.
const (
	// lookInterval spaces the looks at the view while joining; equalLooks of
	// them in a row that show the same mean that it has settled.
	lookInterval = 150 * time.Millisecond
	equalLooks   = 3
	// calmInterval spaces the looks of a node that is ready.
	calmInterval = time.Second
	// alonePatience is how long a node whose seeds are out of reach waits
	// before it serves alone.
	alonePatience = 3 * time.Second
	// settlePatience bounds the waiting for a cluster that does not settle.
	settlePatience = 10 * time.Second
)

// progress is how far this node has come. It changes under Membership.mu.
type progress struct {
	started time.Time
	// contacted: states were exchanged with some other node.
	contacted bool
	// admitted: this node may decide, because nobody else has its name as
	// far as it knows.
	admitted bool
	// activated is when it became active; zero before.
	activated time.Time
	ready     bool
	failed    bool
	// look is what the last look saw, and equal how often in a row.
	look  uint64
	equal int
}

// contact records that states were exchanged with another node.
func (m *Membership) contact() {
	m.mu.Lock()
	m.progress.contacted = true
	m.mu.Unlock()
	signal(m.table.changed)
}

// begin makes a node without seeds a cluster of one at once.
func (m *Membership) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.o.Join) == 0 {
		m.progress.admitted = true
		m.activate(time.Now())
		m.progress.ready = true
		m.noteOwners()
	}
}

// OwnersKnown is closed once this node knows an owner, perhaps itself: from
// then on its View decides. That takes a moment for the first contact, or
// three seconds if no seed answers; a client does not wait for longer. It
// stays open if the membership fails or leaves before.
func (m *Membership) OwnersKnown() <-chan struct{} { return m.ownersKnown }

// noteOwners closes OwnersKnown when it is time. The caller holds mu.
func (m *Membership) noteOwners() {
	known := len(m.view.Load().Ring.Members()) > 0 || m.self.Role == RoleClient
	if m.progress.admitted && known {
		m.ownersOnce.Do(func() { close(m.ownersKnown) })
	}
}

// run follows gossip until ctx ends. It alone moves progress forward.
func (m *Membership) run(ctx context.Context) {
	interval := lookInterval
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.table.changed:
			m.refresh(ctx)
		case now := <-ticker.C:
			if next := m.look(ctx, now); next != interval {
				interval = next
				ticker.Reset(interval)
			}
		}
	}
}

// look moves progress forward by what is to be seen now, and returns when to
// look again.
func (m *Membership) look(ctx context.Context, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := &m.progress
	if p.failed || m.self.State >= StateLeaving {
		return calmInterval
	}
	m.placement.sweep(now)
	boots := m.table.boots()
	m.countLook(boots)
	for _, b := range m.sessions.lost() {
		m.missed(ctx, b, now)
		signal(m.table.changed) // its session may have outlived its death in gossip
	}
	if !m.settleRivalry(now, boots) {
		return lookInterval
	}
	waited := now.Sub(p.started)
	if !p.admitted && (p.contacted || waited >= alonePatience) {
		p.admitted = true
		m.buildView(boots)
	}
	if p.admitted && p.activated.IsZero() && m.mayActivate(waited) {
		m.activate(now)
		m.running.Go(func() { m.spread(ctx) })
	}
	m.evictAbsent(now)
	m.noteOwners()
	if !p.activated.IsZero() && !p.ready {
		late := now.Sub(p.activated) >= settlePatience
		p.ready = !p.contacted || late || p.equal >= equalLooks && m.reachesAll(boots)
		if p.ready {
			m.log.Info("ready", "owners", len(m.ring.Members()), "alone", m.alone(boots))
		}
	}
	if p.ready {
		return calmInterval
	}
	return lookInterval
}

// countLook counts how often in a row the same was to be seen.
func (m *Membership) countLook(boots []boot) {
	var h maphash.Hash
	h.SetSeed(lookSeed)
	maphash.WriteComparable(&h, m.ring.Digest())
	for _, b := range boots {
		maphash.WriteComparable(&h, b)
	}
	if seen := h.Sum64(); seen == m.progress.look {
		m.progress.equal++
	} else {
		m.progress.look, m.progress.equal = seen, 1
	}
}

var lookSeed = maphash.MakeSeed()

// mayActivate reports whether an admitted node can take its place: it finds
// nobody, it has one already from its last run, or the view has settled.
func (m *Membership) mayActivate(waited time.Duration) bool {
	return !m.progress.contacted ||
		m.placement.records[m.self.ID].state == StateActive ||
		m.progress.equal >= equalLooks ||
		waited >= settlePatience
}

// activate takes this node's place: an owner publishes its own entry, at an
// incarnation above any that was seen of its id. The caller holds mu.
func (m *Membership) activate(now time.Time) {
	if own, ok := m.placement.records[m.self.ID]; ok && own.incarnation >= m.self.Incarnation {
		m.self.Incarnation = own.incarnation + 1
	}
	m.self.State = StateActive
	m.progress.activated = now
	m.progress.equal = 0
	signal(m.announcing)
	if m.self.Role != RoleOwner {
		return
	}
	if err := m.apply([]placed{{id: m.self.ID, entry: entry{m.self.Incarnation, StateActive}}}); err != nil {
		m.log.Error("cannot take a place in the ring", "error", err)
	}
}

// reachesAll reports whether the sessions to all owners that live are up.
func (m *Membership) reachesAll(boots []boot) bool {
	live := serving(boots)
	for id, s := range m.sessions.byID {
		_, alive := live[id]
		_, owner := slices.BinarySearch(m.ring.Members(), id)
		if alive && owner && !s.peer.Reachable() {
			return false
		}
	}
	return true
}

// spread gives this node's state to the other owners at once, where gossip
// would take a moment.
func (m *Membership) spread(ctx context.Context) {
	m.exchange(ctx, sample(m.liveTargets(), maxTargets))
}

// announcer gossips this node's meta whenever it has changed.
func (m *Membership) announcer(ctx context.Context) {
	for {
		select {
		case <-m.announcing:
			m.announce(announceTimeout)
		case <-ctx.Done():
			return
		}
	}
}

// announceTimeout bounds how long an announcement is waited for. It is
// gossiped on all the same.
const announceTimeout = time.Second

// announce gossips this node's meta, and waits until that has been sent as
// often as gossip thinks enough.
func (m *Membership) announce(timeout time.Duration) {
	m.announceMu.Lock()
	defer m.announceMu.Unlock()
	if err := m.gossip.UpdateNode(timeout); err != nil {
		m.log.Debug("announcing this node takes long", "error", err)
	}
}
