package cluster

import (
	"slices"
	"sort"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Head is the number of the newest change, 0 before the first. Saved overrides
// are changes too: peers are told of them.
func (m *Overrides) Head() uint64 { return m.head.Load() }

// Since appends to b the records that changed after the given number, in that
// order, as far as limit bytes go, and at least one. upTo is the number up to
// which whoever reads it then knows everything.
func (m *Overrides) Since(b []byte, after uint64, limit int) (out []byte, upTo uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, start := time.Now(), len(b)
	upTo = after
	b = append(b, overrideFormat)
	for _, c := range m.changes.since(after) {
		r := m.records[c.subject]
		if r == nil || r.change != c.number {
			continue // a later change has overtaken this one
		}
		before := len(b)
		s := r.say(c.subject, now)
		b = appendOverride(b, &s)
		if len(b)-start > limit && before > start+1 {
			return b[:before], upTo
		}
		upTo = c.number
	}
	if len(b) == start+1 {
		b = b[:start]
	}
	return b, m.changes.newest
}

// Merge takes in what another node's Since gave. With an error nothing was
// taken in.
func (m *Overrides) Merge(records []byte) error {
	said, err := decodeOverrides(records)
	if err != nil {
		return err
	}
	m.mu.Lock()
	changed := m.hear(said, time.Now())
	m.mu.Unlock()
	m.tell(changed)
	return nil
}

// hear takes in what was said, and returns for whom something else is in force
// now. The caller holds mu.
func (m *Overrides) hear(said []saidOverride, now time.Time) (changed []limiter.Subject) {
	for i := range said {
		s := &said[i]
		m.counter = max(m.counter, s.counter)
		old := m.records[s.subject]
		r := s.heard(now)
		switch {
		case old == nil && s.ended && s.age >= endedLife:
			continue
		case old == nil && !s.ended && s.counter <= m.floor:
			// This node was told of everything of that age, so it was removed,
			// and the removal forgotten, while whoever says so was away.
			r.end(now)
		case old == nil:
		case s.overrideVersion == old.overrideVersion && s.ended == !old.inForce():
			continue
		case s.overrideVersion == old.overrideVersion && s.ended:
		case !s.over(old.overrideVersion):
			m.keep(s.subject, old) // say it again to who has not heard it
			continue
		}
		if r.inForce() || old != nil && old.inForce() {
			changed = append(changed, s.subject)
		}
		m.keep(s.subject, &r)
	}
	m.trim()
	return changed
}

// keep makes r the newest change. The caller holds mu.
func (m *Overrides) keep(subject limiter.Subject, r *overrideRecord) {
	if old := m.records[subject]; old != nil {
		m.tally(old, -1)
	}
	m.tally(r, 1)
	r.change = m.changes.add(subject)
	m.head.Store(r.change)
	m.records[subject] = r
	m.mark(subject)
	if !r.expires.IsZero() && (m.next.IsZero() || r.expires.Before(m.next)) {
		m.next = r.expires
		signal(m.sooner)
	}
	if m.ended > maxEnded {
		signal(m.sooner)
	}
}

func (m *Overrides) tally(r *overrideRecord, n int) {
	if r.inForce() {
		m.count.Add(int64(n))
	} else {
		m.ended += n
	}
}

// trim keeps the log of changes about as long as there are records.
func (m *Overrides) trim() {
	if len(m.changes.log) < 2*len(m.records)+64 {
		return
	}
	m.changes.log = slices.DeleteFunc(m.changes.log, func(c change) bool {
		r := m.records[c.subject]
		return r == nil || r.change != c.number
	})
}

// changeLog numbers changes, from 1.
type changeLog struct {
	newest uint64
	log    []change // ascending
}

type change struct {
	number  uint64
	subject limiter.Subject
}

func (l *changeLog) add(s limiter.Subject) uint64 {
	l.newest++
	l.log = append(l.log, change{l.newest, s})
	return l.newest
}

// since are the changes after the given number.
func (l *changeLog) since(number uint64) []change {
	return l.log[sort.Search(len(l.log), func(i int) bool { return l.log[i].number > number }):]
}
