package cluster

import (
	"context"
	"slices"
	"time"
)

// How a node looks for a member that has just gone. One that was started
// without seeds and comes back at its address looks for nobody, and decides
// by itself until it is found.
const (
	// searchLife is how long the address is tried; then it is left to rejoin.
	searchLife = 30 * time.Second
	// searchInterval and searchJitter space the tries of one node.
	searchInterval = 300 * time.Millisecond
	searchJitter   = 200 * time.Millisecond
	// searchers is how many nodes try at that pace. Where there are more,
	// each tries less often, so that all together try about as often: what
	// one finds, gossip tells the others.
	searchers = 8
	// maxSearches bounds the addresses that are tried at one time.
	maxSearches = 16
)

// search is the looking for a member at the address of its gossip.
type search struct {
	// gone is the boot that was there last.
	gone  boot
	until time.Time
}

// missed starts to look for an owner that has gone, or seems to have. Clients
// have seeds and look for others themselves. The caller is run, and holds mu.
func (m *Membership) missed(ctx context.Context, b boot, now time.Time) {
	if b.Role != RoleOwner || b.ID == m.self.ID || b.gossip == m.addresses.advertise.String() {
		return
	}
	old, running := m.searches[b.gossip]
	if !running && len(m.searches) >= maxSearches {
		return
	}
	if old.gone.ID == b.ID && old.gone.Incarnation > b.Incarnation {
		return // the run before the one that is missed, declared dead only now
	}
	m.searches[b.gossip] = search{gone: b, until: now.Add(searchLife)}
	if running {
		return
	}
	pause := m.searchPause()
	if b.State < StateLeaving { // otherwise it is still on its way out
		pause = jitter(pause)
	}
	m.running.Go(func() { m.search(ctx, b.gossip, pause) })
}

// searchPause is how long to wait before the next try.
func (m *Membership) searchPause() time.Duration {
	turns := max(1, len(m.table.boots())/searchers)
	return time.Duration(turns) * (searchInterval + jitter(searchJitter))
}

// search exchanges states with whoever listens at addr, until that is a
// member or there is no reason to go on. Each try waits for the one before.
func (m *Membership) search(ctx context.Context, addr string, pause time.Duration) {
	for answered := false; m.searching(addr, answered); pause = m.searchPause() {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		_, err := m.gossip.Join([]string{addr})
		answered = err == nil
	}
}

// searching reports whether to go on looking at addr, and ends the search if
// not. An answer alone proves nothing: a node that has said farewell answers
// too while it still listens.
func (m *Membership) searching(addr string, answered bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.searches[addr]
	if time.Now().Before(s.until) && m.self.State < StateLeaving && !m.found(s.gone, answered) {
		return true
	}
	delete(m.searches, addr)
	return false
}

// found reports whether gossip knows a live boot in place of gone: a later
// one, another node at its address, or, if the address has just answered,
// gone itself. Until then gone is listed for a while after a crash, and so
// are boots before it.
func (m *Membership) found(gone boot, answered bool) bool {
	return slices.ContainsFunc(m.table.boots(), func(b boot) bool {
		switch {
		case b.name == gone.name:
			return answered
		case b.ID == gone.ID:
			return b.Incarnation > gone.Incarnation
		}
		return b.gossip == gone.gossip
	})
}
