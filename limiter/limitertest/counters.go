package limitertest

import (
	"maps"
	"math/big"
	"slices"

	"github.com/murmurate/murmurate/limiter"
)

func newCounter(a limiter.Algorithm) counter {
	switch a {
	case limiter.TokenBucket, limiter.LeakyBucket:
		return &bucketCounter{debt: new(big.Rat)}
	case limiter.FixedWindow, limiter.Quota:
		return &windowCounter{}
	case limiter.SlidingWindow:
		return &slidingCounter{units: make(map[int64]int64)}
	default:
		return &logCounter{}
	}
}

// bucketCounter is a debt that drains.
type bucketCounter struct {
	debt *big.Rat
	at   int64 // means nothing before there is a debt
}

func (b *bucketCounter) used(now limiter.Instant, d *big.Int, l *limiter.Limit) *big.Rat {
	if b.debt.Sign() == 0 {
		return new(big.Rat)
	}
	left := new(big.Rat).Sub(b.debt, drained(since(b.at, now.Mono, d), l))
	if left.Sign() < 0 {
		return new(big.Rat)
	}
	return left
}

func (b *bucketCounter) charge(now limiter.Instant, l *limiter.Limit, cost int64) {
	b.debt = new(big.Rat).Add(b.used(now, new(big.Int), l), whole(cost))
	b.at = now.Mono
}

func (b *bucketCounter) clone() counter { return &bucketCounter{new(big.Rat).Set(b.debt), b.at} }

// windowCounter counts until the window that its first charge fell into ends.
type windowCounter struct{ units, end int64 }

func (w *windowCounter) used(now limiter.Instant, d *big.Int, _ *limiter.Limit) *big.Rat {
	if since(w.end, now.Wall, d).Sign() >= 0 {
		return new(big.Rat)
	}
	return whole(w.units)
}

func (w *windowCounter) charge(now limiter.Instant, l *limiter.Limit, cost int64) {
	if w.used(now, new(big.Int), l).Sign() == 0 {
		w.units = 0
		switch l.Align {
		case limiter.AlignFirst:
			w.end = now.Wall + int64(l.Period)
		case limiter.AlignCalendar:
			w.end = CalendarEnd(l, now.Wall)
		default:
			number := new(big.Int).Div(big.NewInt(now.Wall), big.NewInt(int64(l.Period))).Int64()
			w.end = (number + 1) * int64(l.Period)
		}
	}
	w.units += cost
}

func (w *windowCounter) clone() counter { return &windowCounter{w.units, w.end} }

// slidingCounter remembers every window there ever was, by its number.
type slidingCounter struct{ units map[int64]int64 }

func (s *slidingCounter) used(now limiter.Instant, d *big.Int, l *limiter.Limit) *big.Rat {
	period := big.NewInt(int64(l.Period))
	number, into := new(big.Int).DivMod(since(0, now.Wall, d), period, new(big.Int))
	covered := new(big.Rat).SetFrac(new(big.Int).Sub(period, into), period)
	covered.Mul(covered, whole(s.units[number.Int64()-1]))
	return covered.Add(covered, whole(s.units[number.Int64()]))
}

func (s *slidingCounter) charge(now limiter.Instant, l *limiter.Limit, cost int64) {
	number := new(big.Int).Div(big.NewInt(now.Wall), big.NewInt(int64(l.Period)))
	s.units[number.Int64()] += cost
}

func (s *slidingCounter) clone() counter { return &slidingCounter{maps.Clone(s.units)} }

// logCounter remembers every charge.
type logCounter struct {
	charges []struct{ at, units int64 }
}

func (g *logCounter) used(now limiter.Instant, d *big.Int, l *limiter.Limit) *big.Rat {
	sum := int64(0)
	for _, c := range g.charges {
		if age := since(c.at, now.Mono, d); age.Cmp(big.NewInt(int64(l.Period))) < 0 {
			sum += c.units
		}
	}
	return whole(sum)
}

func (g *logCounter) charge(now limiter.Instant, _ *limiter.Limit, cost int64) {
	g.charges = append(g.charges, struct{ at, units int64 }{now.Mono, cost})
}

func (g *logCounter) clone() counter { return &logCounter{slices.Clone(g.charges)} }
