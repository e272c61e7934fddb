package transport

import "time"

// health judges a session from what was sent and answered. Instants are
// durations since the client was made. It is not safe for concurrent use.
//
// A session is as well as its newest proof of life is young: the instant at
// which the newest thing was sent that the peer has answered. The instant of
// sending, not of the answer: an answer that lay in a buffer while this
// process was stopped proves nothing about now.
type health struct {
	onDemand bool
	// silence is the age of the newest proof of life at which the session is
	// down.
	silence time.Duration
	// proof is the instant of the newest proof of life.
	proof time.Duration
	// waiting is set while something sent awaits its answer, since the
	// instant of the first.
	waiting bool
	since   time.Duration
	// upFrom is when the session counts as up if it stays well.
	upFrom time.Duration
}

// connected begins a session. The first of a client counts at once.
func (h *health) connected(now time.Duration, first bool) {
	h.proof, h.upFrom = now, now
	if !first {
		h.upFrom += stableFor
	}
}

// sent notes that something left that the peer will answer.
func (h *health) sent(now time.Duration) {
	if !h.waiting {
		h.waiting, h.since = true, now
	}
}

// answered notes an answer to what was sent at sentAt. more says whether
// anything else awaits its answer.
func (h *health) answered(now, sentAt time.Duration, more bool) {
	if h.age(now) >= h.silence {
		h.upFrom = now + stableFor
	}
	h.proof = max(h.proof, sentAt)
	h.waiting = more
}

// age is how old the newest proof of life is. An on-demand session that
// awaits nothing has nothing to prove.
func (h *health) age(now time.Duration) time.Duration {
	switch {
	case !h.onDemand:
		return now - h.proof
	case h.waiting:
		return now - max(h.proof, h.since)
	}
	return 0
}

// up reports whether the peer is within reach.
func (h *health) up(now time.Duration) bool {
	return h.age(now) < h.silence && now >= h.upFrom
}

// beating reports whether heartbeats are due: always, or while calls are
// outstanding or the session is recovering.
func (h *health) beating(now time.Duration) bool {
	return !h.onDemand || h.waiting || now < h.upFrom
}
