package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// Readiness says whether this node should be sent traffic, and why not. Once
// ready it stays so until it leaves: peers that are slow or gone are a
// detail, not a reason to take more nodes away.
type Readiness struct {
	// Ready is set when the node has taken its place and its view of the
	// cluster has settled, or when it serves alone.
	Ready bool
	// Alone is set when the node serves and has seeds, and knows no owner
	// but itself.
	Alone bool
	// Conditions are in a fixed order.
	Conditions []Condition
}

// Condition is one thing that was looked at.
type Condition struct {
	// Name is "joined", "settled" or "peers", or of a node with a data directory
	// "data_dir".
	Name string
	// OK is set when all is well. The conditions "peers" and "data_dir" do not
	// bear on Ready.
	OK bool
	// Detail is for people; empty when there is nothing to say.
	Detail string
}

// Readiness reports whether this node should be sent traffic.
func (m *Membership) Readiness() Readiness {
	m.mu.Lock()
	defer m.mu.Unlock()
	boots := m.table.boots()
	r := Readiness{Ready: m.progress.ready, Alone: m.alone(boots)}
	r.Conditions = []Condition{m.joinedCondition(r.Alone), m.settledCondition(boots), m.peersCondition()}
	return r
}

// alone reports whether this node serves by itself although it has seeds.
func (m *Membership) alone(boots []boot) bool {
	if len(m.o.Join) == 0 || m.self.State != StateActive {
		return false
	}
	for _, id := range m.ring.Members() {
		if id != m.self.ID {
			return false
		}
	}
	return !slices.ContainsFunc(boots, func(b boot) bool { return b.Role == RoleOwner })
}

func (m *Membership) joinedCondition(alone bool) Condition {
	c := Condition{Name: "joined", OK: m.self.State == StateActive}
	switch {
	case m.progress.failed:
		c.Detail = ErrDuplicate.Error()
	case alone:
		c.Detail = "alone"
		if trouble := m.seeds.trouble(); trouble != "" {
			c.Detail += ": " + trouble
		}
	case c.OK:
	case m.self.State == StateJoining:
		c.Detail = "joining"
		if trouble := m.seeds.trouble(); trouble != "" && !m.progress.contacted {
			c.Detail += ": " + trouble
		}
	default:
		c.Detail = m.self.State.String()
	}
	return c
}

func (m *Membership) settledCondition(boots []boot) Condition {
	c := Condition{Name: "settled", OK: m.progress.ready}
	switch {
	case c.OK || m.self.State != StateActive:
	case !m.reachesAll(boots):
		c.Detail = "waiting for the sessions to other owners"
	default:
		c.Detail = "waiting for the view of the cluster to stay the same"
	}
	return c
}

func (m *Membership) peersCondition() Condition {
	var missing []string
	for _, id := range m.ring.Members() {
		if id != m.self.ID && !m.reaches(id) {
			missing = append(missing, id)
		}
	}
	c := Condition{Name: "peers", OK: len(missing) == 0}
	if !c.OK {
		c.Detail = fmt.Sprintf("%d of %d owners out of reach: %s", len(missing), len(m.ring.Members()), strings.Join(missing, ", "))
	}
	return c
}

// reaches reports whether the session to the member is up.
func (m *Membership) reaches(id string) bool {
	s, ok := m.sessions.byID[id]
	return ok && s.peer.Reachable()
}
