package limiter

import "sync/atomic"

// markLag is how far, in ns, a table's mark may be behind its latest call.
const markLag = 1_000_000

// mark is the latest time that calls have brought to a table. A shard knows
// exactly what its own calls brought; through the mark it learns of the
// others'. Written at most once in markLag, its cache line is shared by all
// processors nearly always, where an exact maximum would be fought over by
// every call.
type mark struct{ mono, wall atomic.Int64 }

func (m *mark) init() {
	m.mono.Store(minClock)
	m.wall.Store(minClock)
}

// after returns the latest of now, clock and the mark, and advances the mark
// if that is too far ahead of it.
func (m *mark) after(now, clock Instant) Instant {
	return Instant{
		Mono: latest(now.Mono, clock.Mono, &m.mono),
		Wall: latest(now.Wall, clock.Wall, &m.wall),
	}
}

func latest(now, clock int64, mark *atomic.Int64) int64 {
	seen := mark.Load()
	now = max(now, clock, seen)
	for now-seen > markLag && !mark.CompareAndSwap(seen, now) {
		seen = mark.Load()
	}
	return now
}
