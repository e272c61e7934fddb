package cluster

import (
	"slices"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

const (
	// expireEvery spaces the looks for what has expired.
	expireEvery = 10 * time.Millisecond
	// forgetEvery spaces the looks for what may be forgotten.
	forgetEvery = time.Minute
)

// expire ends what has expired, when it does, until the node closes.
func (m *Overrides) expire() {
	timer := time.NewTimer(m.sweep())
	defer timer.Stop()
	for {
		select {
		case <-m.closing:
			return
		case <-m.sooner:
			m.mu.Lock()
			timer.Reset(m.pause(time.Now()))
			m.mu.Unlock()
		case <-timer.C:
			timer.Reset(m.sweep())
		}
	}
}

// sweep ends what has expired, forgets what ended long ago, and returns when
// to look again. Nobody is told: they have clocks.
func (m *Overrides) sweep() time.Duration {
	m.mu.Lock()
	now := time.Now()
	var expired []limiter.Subject
	m.next = time.Time{}
	for subject, r := range m.records {
		switch {
		case r.inForce() && r.expires.IsZero():
		case r.inForce() && r.expires.After(now):
			if m.next.IsZero() || r.expires.Before(m.next) {
				m.next = r.expires
			}
		case r.inForce():
			m.tally(r, -1)
			r.end(r.expires)
			m.tally(r, 1)
			m.mark(subject)
			expired = append(expired, subject)
		case now.Sub(r.ended) >= endedLife:
			m.forget(subject)
		}
	}
	if m.ended > maxEnded {
		m.forgetOldest()
	}
	m.trim()
	wait := m.pause(now)
	m.mu.Unlock()
	m.tell(expired)
	return wait
}

// pause is how long to wait for the next sweep. The caller holds mu.
func (m *Overrides) pause(now time.Time) time.Duration {
	switch {
	case m.ended > maxEnded:
		return expireEvery
	case m.next.IsZero():
		return forgetEvery
	}
	return min(max(m.next.Sub(now), expireEvery), forgetEvery)
}

// forget drops a record that has ended. The caller holds mu.
func (m *Overrides) forget(subject limiter.Subject) {
	r := m.records[subject]
	m.floor = max(m.floor, r.counter)
	m.tally(r, -1)
	delete(m.records, subject)
	m.mark(subject)
}

// forgetOldest makes room for as many again as an eighth of those that may be
// remembered. The caller holds mu.
func (m *Overrides) forgetOldest() {
	var ended []limiter.Subject
	for subject, r := range m.records {
		if !r.inForce() {
			ended = append(ended, subject)
		}
	}
	slices.SortFunc(ended, func(a, b limiter.Subject) int { return m.records[a].ended.Compare(m.records[b].ended) })
	for _, subject := range ended[:len(ended)-maxEnded*7/8] {
		m.forget(subject)
	}
}
