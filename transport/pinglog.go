package transport

import "time"

// pingLog remembers when the newest pings were sent. Older ones are of no
// interest: by then the connection has been given up.
type pingLog struct {
	sent     uint64 // number of the newest
	answered uint64 // the highest that was answered
	at       [32]time.Duration
}

// next notes a ping and returns its number.
func (l *pingLog) next(now time.Duration) uint64 {
	l.sent++
	l.at[l.sent%uint64(len(l.at))] = now
	return l.sent
}

// answer notes a pong and returns when its ping was sent. It reports false
// for a number that was never sent.
func (l *pingLog) answer(seq uint64) (at time.Duration, ok bool) {
	if seq == 0 || seq > l.sent || l.sent-seq >= uint64(len(l.at)) {
		return 0, false
	}
	l.answered = max(l.answered, seq)
	return l.at[seq%uint64(len(l.at))], true
}

// open reports whether a ping awaits its answer.
func (l *pingLog) open() bool { return l.answered < l.sent }
