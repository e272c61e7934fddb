package limiter

import (
	"math/bits"
	"time"
)

// Share is the n-th part of l: what one of n members may spend on its own so
// that all together stay within the limit. ok is false if the part admits
// nothing, ever. n below 2 gives l itself.
//
// Count and burst are divided and rounded down; the part of a token bucket
// without a burst of its own holds its part of the count. A bucket with less
// than one unit per period for each member, but at least one of burst, keeps
// its exact rate by a longer period: one unit per n/count periods. Such a
// period can exceed [MaxPeriod], so do not validate a share.
//
// A durable limit has no parts: it must never be exceeded, not even while its
// owner is out of reach.
//
// A leaky bucket's parts serve one unit each where the whole serves one: at
// one instant they can admit up to burst + n units, in the long run no more
// than its count.
func (l *Limit) Share(n int) (share Limit, ok bool) {
	share = *l
	if l.Durable {
		return share, false // what its counter holds is on the owner's disk, and nowhere else
	}
	if n < 2 {
		return share, l.Capacity() > 0
	}
	share.Count = l.Count / int64(n)
	switch l.Algorithm {
	case TokenBucket, LeakyBucket:
		burst := l.Burst
		if l.Algorithm == TokenBucket {
			burst = l.Capacity()
		}
		share.Burst = burst / int64(n)
		switch {
		case l.Count <= 0 || share.Burst < 1 && (l.Algorithm == TokenBucket || share.Count < 1):
			return share, false
		case share.Count < 1:
			share.Count = l.Count
			share.Period = stretch(l.Period, n)
		}
		return share, true
	default:
		return share, share.Count > 0
	}
}

// stretch is n times the period, or the longest there is.
func stretch(period time.Duration, n int) time.Duration {
	hi, lo := bits.Mul64(uint64(max(period, 0)), uint64(n))
	if hi > 0 || lo > maxPeriod {
		return maxPeriod
	}
	return time.Duration(lo)
}

// WindowEnd is the rest of l's window at now. A limit that counts
// continuously, or whose window the first call opens, has the rest of one
// period.
func (l *Limit) WindowEnd(now Instant) time.Duration {
	wall := now.clamp().Wall
	period := int64(l.terms().period)
	switch l.Algorithm {
	case FixedWindow, Quota:
		return time.Duration(l.windowEnd(wall) - wall)
	case SlidingWindow:
		return time.Duration(epochStart(wall, period) + period - wall)
	default:
		return time.Duration(period)
	}
}
