package cluster

import (
	"errors"
	"fmt"
	"time"
)

// ErrDuplicate is the failure of a node whose id belongs to another live node.
var ErrDuplicate = errors.New("another node has this name")

// How two live boots of one id are told apart from a restart.
const (
	// probePatience is how long the last run of this id may take to answer
	// before it is taken for dead.
	probePatience = 2 * time.Second
	// supersededPatience is how long a newer node under this id may last
	// before this one gives way. A newer one that was not entitled to the id
	// gives way itself by then.
	supersededPatience = 5 * time.Second
)

// rivalry is what this node knows of another live node with its id.
type rivalry struct {
	// settled: this node has been in contact with others and has found
	// nobody who has had the id before it and still lives.
	settled bool
	// probed is the name of the boot that probe tries to reach, since when.
	probed string
	since  time.Time
	probe  Peer
	// dead holds the names of boots that were probed in vain.
	dead map[string]bool
	// superseded is since when a newer boot has held this node's place.
	superseded time.Time
}

// settleRivalry looks for other live nodes with this node's id, and reports
// whether there is nothing against this one. The newcomer gives way: the node
// that is still joining, or that has become active without contact. Only a
// node that has been stopped for so long that it was replaced gives way to a
// newer one. The caller holds mu.
func (m *Membership) settleRivalry(now time.Time, boots []boot) bool {
	if m.rivalry.settled {
		return m.checkSuperseded(now, boots)
	}
	if !m.progress.contacted {
		return true
	}
	rival, found := m.rival(boots)
	if !found {
		m.rivalry.endProbe()
		m.rivalry = rivalry{settled: true}
		return true
	}
	r := &m.rivalry
	if r.probed != rival.name {
		r.endProbe()
		r.probed, r.since, r.probe = rival.name, now, m.o.Connect(rival.Member)
	}
	switch {
	case r.probe.Reachable():
		m.fail(fmt.Errorf("%w: %q is running at %s; give this node another with node.name or --name", ErrDuplicate, m.self.ID, rival.Address))
	case now.Sub(r.since) >= probePatience:
		r.dead[rival.name] = true
		r.endProbe()
	}
	return false
}

// rival returns a live boot that has had this node's id before it. One at
// this node's own address is its own last run, since two cannot listen there.
func (m *Membership) rival(boots []boot) (boot, bool) {
	for _, b := range boots {
		switch {
		case b.ID != m.self.ID || m.rivalry.dead[b.name]:
		case b.Address == m.self.Address || b.gossip == m.addresses.advertise.String():
		case b.State >= StateLeaving:
		case b.State == StateJoining && m.self.State == StateActive:
		case b.State == m.self.State && m.older(b):
		default:
			return b, true
		}
	}
	return boot{}, false
}

// older reports whether this node has its id rather than b, with both in one
// state.
func (m *Membership) older(b boot) bool {
	if m.self.Incarnation != b.Incarnation {
		return m.self.Incarnation < b.Incarnation
	}
	return m.table.self < b.name
}

// checkSuperseded reports whether this node still has its place.
func (m *Membership) checkSuperseded(now time.Time, boots []boot) bool {
	own := m.placement.records[m.self.ID]
	for _, b := range boots {
		if b.ID != m.self.ID || b.State != StateActive || b.Incarnation <= m.self.Incarnation || b.Incarnation < own.incarnation {
			continue
		}
		if m.rivalry.superseded.IsZero() {
			m.rivalry.superseded = now
			m.log.Warn("another node claims this node's name", "name", m.self.ID, "address", b.Address)
		}
		if now.Sub(m.rivalry.superseded) >= supersededPatience {
			m.fail(fmt.Errorf("%w: %q has been replaced by the node at %s; give one of them another with node.name or --name", ErrDuplicate, m.self.ID, b.Address))
			return false
		}
		return true
	}
	m.rivalry.superseded = time.Time{}
	return true
}

// fail takes this node out of all decisions and reports why. The caller
// holds mu.
func (m *Membership) fail(err error) {
	m.rivalry.endProbe()
	m.progress.failed = true
	m.progress.admitted = false
	m.progress.ready = false
	// The place belongs to the other node: say nothing about it any more.
	m.self.State = StateJoining
	signal(m.announcing)
	m.buildView(m.table.boots())
	m.log.Error("this node cannot stay in the cluster", "error", err)
	m.failed <- err
}

func (r *rivalry) endProbe() {
	if r.probe != nil {
		r.probe.Close()
		r.probe = nil
	}
	r.probed = ""
}
