package cluster

import (
	"time"

	"github.com/murmurate/murmurate/limiter"
)

const (
	// endedLife is how long it is remembered that an override was removed, or
	// has expired. Whoever was out of touch for less cannot bring it back.
	endedLife = 24 * time.Hour
	// maxEnded bounds those that are remembered; beyond it the oldest are
	// forgotten early.
	maxEnded = 20_000
)

// overrideVersion orders what is said about one subject: the highest is the
// last word.
type overrideVersion struct {
	counter uint64
	node    string // that said it; orders equal counters
}

func (v overrideVersion) over(o overrideVersion) bool {
	if v.counter != o.counter {
		return v.counter > o.counter
	}
	return v.node > o.node
}

// overrideRecord is the last word on one subject, as a node keeps it. At one
// version it only goes from in force to ended.
type overrideRecord struct {
	overrideVersion
	value []byte // nil once it has ended
	// expires is when it ends by this node's clock; zero: at no time. For one
	// version it is fixed when the node first hears of it.
	expires time.Time
	// ended is when it was removed or has expired; zero: it is in force.
	ended time.Time
	// change is the number of the change that brought it here.
	change uint64
}

func (r *overrideRecord) inForce() bool { return r.ended.IsZero() }

// end makes r one that has ended.
func (r *overrideRecord) end(at time.Time) {
	r.ended, r.value, r.expires = at, nil, time.Time{}
}

// saidOverride is a record on its way between nodes, or to the disk, where
// instants mean nothing.
type saidOverride struct {
	subject limiter.Subject
	overrideVersion
	value []byte
	// left is how long it stays in force; 0: for good.
	left time.Duration
	// ended is set when it is not in force any more, since age.
	ended bool
	age   time.Duration
}

// say is r in words at the given time.
func (r *overrideRecord) say(subject limiter.Subject, now time.Time) saidOverride {
	s := saidOverride{subject: subject, overrideVersion: r.overrideVersion, value: r.value}
	switch {
	case !r.inForce():
		s.ended, s.age = true, max(0, now.Sub(r.ended))
	case !r.expires.IsZero():
		if s.left = r.expires.Sub(now); s.left <= 0 { // and nobody has looked since
			s.ended, s.age, s.left, s.value = true, -s.left, 0, nil
		}
	}
	return s
}

// heard is the record that s makes at the given time.
func (s *saidOverride) heard(now time.Time) overrideRecord {
	r := overrideRecord{overrideVersion: s.overrideVersion}
	if s.ended {
		r.ended = now.Add(-s.age)
		return r
	}
	r.value = s.value
	if s.left > 0 {
		r.expires = now.Add(s.left)
	}
	return r
}

// elapse lets time go by for what was written down.
func (s *saidOverride) elapse(d time.Duration) {
	switch {
	case s.ended:
		s.age += d
	case s.left == 0:
	case s.left > d:
		s.left -= d
	default:
		s.ended, s.age, s.left, s.value = true, d-s.left, 0, nil
	}
}
