package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// agreeWithin is how long the members may take to agree after a change.
const agreeWithin = 10 * time.Second

// settlesIn is how long after a change all may be well again: what was on its
// way by then, late, holds up what comes after it on the same connection. A
// connection that is held up for longer is down.
const settlesIn = time.Second

// health is what the runner knows of the cluster from outside: what the
// scenario has done to it, and whether the members agree. run.mu guards it.
type health struct {
	run   *run
	began time.Time // of the run, when the first node starts
	moment
	// changing counts the steps under way that start or end nodes.
	changing int
	// What the scenario does to the network now.
	cut, lossy, late bool
	slow             map[string]bool
	// changed is when something was last done.
	changed time.Time
	// agreeBy is when all must agree; zero if they do, or need not.
	agreeBy time.Time
}

// moment is how the cluster is at one moment.
//
// An era is a time in which the set of owners is the same, all members agree
// on it, and no node starts: each key has one owner and one counter. Cuts,
// crashes and pauses do not end it. A healthy spell is the part of an era in
// which all owners run and reach each other, and nothing is done to the
// network.
type moment struct {
	era, spell      int // they count on
	stable, healthy bool
}

// disturbed notes that something was done that can part the members, or
// heals them. boots says that a node starts or leaves. The caller holds mu.
func (h *health) disturbed(boots bool) {
	if boots {
		h.stable = false
	}
	h.healthy = false
	h.changed = time.Now()
	h.agreeBy = time.Time{}
	if !h.parted() {
		h.agreeBy = h.changed.Add(agreeWithin)
	}
}

// parted reports whether the members cannot be expected to agree.
func (h *health) parted() bool {
	return h.cut || h.lossy || len(h.slow) > 0 || h.changing > 0 || h.any(func(m *member) bool { return m.state == paused })
}

// faulty reports whether checks can be expected to fail: the network is bad,
// or the owner of some keys is dead.
func (h *health) faulty() bool {
	return h.parted() || h.late || h.any(func(m *member) bool { return m.unheard || m.owner() && m.state == killed })
}

func (h *health) any(is func(*member) bool) bool {
	return slices.ContainsFunc(h.run.names, func(name string) bool { return is(h.run.members[name]) })
}

// through returns the era that reached from began until now, 0 for none, and
// whether all that time was healthy.
func (h *health) through(began moment) (era int, healthy bool) {
	if began.stable && h.stable && began.era == h.era {
		era = h.era
	}
	return era, era > 0 && began.healthy && h.healthy && began.spell == h.spell
}

// look takes in how the members are. The error is a breach of I13: after any
// change that is over, all members agree on the owners and on the digest
// within the time given, and go on agreeing.
func (h *health) look(now time.Time) error {
	if h.changing > 0 {
		return nil
	}
	differ := h.disagreement()
	switch {
	case differ != "" && h.stable:
		return errors.New("I13: the members have agreed, and do so no longer: " + differ)
	case differ != "" && !h.agreeBy.IsZero() && now.After(h.agreeBy):
		return fmt.Errorf("I13: the members do not agree within %v of the last change: %s", agreeWithin, differ)
	case differ != "":
		return nil
	}
	h.agreeBy = time.Time{}
	if !h.stable {
		h.stable = true
		h.era++
	}
	if !h.healthy && !h.faulty() && now.Sub(h.changed) >= settlesIn && h.whole() {
		h.healthy = true
		h.spell++
	}
	return nil
}

// disagreement says what the members that run differ in, or nothing: each
// must know the owners that the scenario knows, and have the digest of the
// others in its cluster.
func (h *health) disagreement() string {
	owners := make(map[string][]string) // by label
	for _, name := range slices.Sorted(slices.Values(h.run.names)) {
		if m := h.run.members[name]; m.placed() && !m.unheard {
			owners[m.options.Label] = append(owners[m.options.Label], name)
		}
	}
	digests := make(map[string]uint64)
	for _, name := range h.run.names {
		m := h.run.members[name]
		if m.state == killed || m.state == stopped {
			continue
		}
		var known []string
		for _, status := range m.node.Members() {
			if m := h.run.members[status.ID]; status.Placed && (m == nil || !m.unheard) {
				known = append(known, status.ID)
			}
		}
		if want := owners[m.options.Label]; !slices.Equal(known, want) {
			return fmt.Sprintf("%s knows the owners [%s], and should know [%s]", name, strings.Join(known, " "), strings.Join(want, " "))
		}
		mine := m.node.Digest()
		if others, ok := digests[m.options.Label]; ok && others != mine {
			return fmt.Sprintf("%s has the digest %016x, others %016x", name, mine, others)
		}
		digests[m.options.Label] = mine
	}
	return ""
}

// whole reports whether every node is ready and reaches every owner.
func (h *health) whole() bool {
	for _, m := range h.run.running() {
		if !m.node.Readiness().Ready {
			return false
		}
		for _, status := range m.node.Members() {
			if status.Placed && !status.Reachable {
				return false
			}
		}
	}
	return true
}
