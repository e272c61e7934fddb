package limiter

import (
	"math"
	"time"
)

// tick is a coarse time of Instant.Mono: units of 2^31 ns, about 2.1 s,
// since the beginning of the clock's range, which exactly fills 32 bits.
type tick uint32

// never is the expiry of a counter that is live for longer than the clock's
// range.
const never tick = math.MaxUint32

func tickAt(mono int64) tick { return tick(uint64(mono-minClock) >> 31) }

// expiry is the tick after which a counter that is as if unused in rest may
// be dropped. It is never early: windows run on a clock that differs from
// Mono in rate by at most 1/1000, and twice that, and a second, are added. It
// decides about memory only; what a counter says is always worked out from
// its state.
func expiry(mono int64, rest time.Duration) tick {
	margin := rest>>9 + time.Second
	if int64(rest) > maxClock-int64(margin)-max(mono, 0) {
		return never
	}
	return tickAt(mono + int64(rest+margin))
}

// over reports whether the tick has passed at mono.
func (t tick) over(mono int64) bool { return t < tickAt(mono) }
