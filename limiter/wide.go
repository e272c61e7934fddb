package limiter

import (
	"math"
	"math/bits"
	"time"
)

// wide is an unsigned integer of 128 bits: what a product of a count and a
// time needs. Its operations never overflow for the numbers of [terms].
type wide struct{ hi, lo uint64 }

// product is a x b.
func product(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{hi, lo}
}

// plus is x + y.
func (x wide) plus(y wide) wide {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(x.hi, y.hi, carry)
	return wide{hi, lo}
}

// minus is x - y, or 0 if y is larger.
func (x wide) minus(y wide) wide {
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	hi, borrow := bits.Sub64(x.hi, y.hi, borrow)
	if borrow != 0 {
		return wide{}
	}
	return wide{hi, lo}
}

// exceeds reports whether x > y.
func (x wide) exceeds(y wide) bool {
	return x.hi > y.hi || x.hi == y.hi && x.lo > y.lo
}

// atMost is the smaller of x and y.
func (x wide) atMost(y wide) wide {
	if x.exceeds(y) {
		return y
	}
	return x
}

// zero reports whether x is 0.
func (x wide) zero() bool { return x.hi|x.lo == 0 }

// quoRem is x / d and what is left, both within 64 bits. A quotient that is
// wider saturates.
func (x wide) quoRem(d uint64) (quotient, rest uint64) {
	if x.hi >= d {
		return math.MaxUint64, 0
	}
	return bits.Div64(x.hi, x.lo, d)
}

// durationUp is x / d nanoseconds, rounded up. What an int64 cannot hold is
// the longest duration, and so is x / 0 unless x is 0.
func (x wide) durationUp(d uint64) time.Duration {
	if x.zero() {
		return 0
	}
	quotient, rest := x.quoRem(d)
	if rest > 0 {
		quotient++ // cannot wrap: a rest means that d > 1
	}
	return time.Duration(min(quotient, math.MaxInt64))
}
