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
		return &bucketCounter{}
	case limiter.FixedWindow, limiter.Quota:
		return &windowCounter{}
	case limiter.SlidingWindow:
		return &slidingCounter{units: make(map[int64]int64)}
	default:
		return &logCounter{}
	}
}

// charged is the units of one charge, where it matters which.
type charged struct {
	id    limiter.ReceiptID // zero: they are not given back
	at    int64             // of a log, Instant.Mono
	units *big.Rat
}

// bucketCounter is a queue of units that drains in their order.
type bucketCounter struct {
	queue []charged
	at    int64 // means nothing before there is a debt
}

func (b *bucketCounter) used(now limiter.Instant, d *big.Int, l *limiter.Limit) *big.Rat {
	debt := new(big.Rat)
	if len(b.queue) == 0 {
		return debt
	}
	for _, c := range b.queue {
		debt.Add(debt, c.units)
	}
	if debt.Sub(debt, drained(since(b.at, now.Mono, d), l)); debt.Sign() < 0 {
		return new(big.Rat)
	}
	return debt
}

// drain brings the queue to now.
func (b *bucketCounter) drain(now limiter.Instant, l *limiter.Limit) {
	gone := drained(since(b.at, now.Mono, new(big.Int)), l)
	for len(b.queue) > 0 && b.queue[0].units.Cmp(gone) <= 0 {
		gone.Sub(gone, b.queue[0].units)
		b.queue = b.queue[1:]
	}
	if len(b.queue) > 0 {
		b.queue[0].units = new(big.Rat).Sub(b.queue[0].units, gone)
	}
	b.at = now.Mono
}

func (b *bucketCounter) charge(now limiter.Instant, l *limiter.Limit, cost int64, id limiter.ReceiptID) {
	b.drain(now, l)
	b.queue = append(b.queue, charged{id: id, units: whole(cost)})
}

func (b *bucketCounter) giveBack(now limiter.Instant, l *limiter.Limit, id limiter.ReceiptID, units int64) {
	b.drain(now, l)
	for i := range b.queue {
		if c := &b.queue[i]; c.id == id {
			if c.units = new(big.Rat).Sub(c.units, whole(units)); c.units.Sign() < 0 {
				c.units = new(big.Rat)
			}
		}
	}
}

func (b *bucketCounter) clone() counter { return &bucketCounter{slices.Clone(b.queue), b.at} }

// windowCounter counts until the window that its first charge fell into ends.
type windowCounter struct {
	units, end int64
	open       map[limiter.ReceiptID]bool // the charges in this window that can be settled
}

func (w *windowCounter) used(now limiter.Instant, d *big.Int, _ *limiter.Limit) *big.Rat {
	if since(w.end, now.Wall, d).Sign() >= 0 {
		return new(big.Rat)
	}
	return whole(w.units)
}

func (w *windowCounter) charge(now limiter.Instant, l *limiter.Limit, cost int64, id limiter.ReceiptID) {
	if w.used(now, new(big.Int), l).Sign() == 0 {
		w.units, w.open = 0, make(map[limiter.ReceiptID]bool)
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
	w.open[id] = true
}

func (w *windowCounter) giveBack(now limiter.Instant, _ *limiter.Limit, id limiter.ReceiptID, units int64) {
	if w.open[id] && now.Wall < w.end {
		w.units -= units
	}
}

func (w *windowCounter) clone() counter {
	return &windowCounter{w.units, w.end, maps.Clone(w.open)}
}

// slidingCounter remembers every window there ever was, by its number.
type slidingCounter struct {
	units map[int64]int64
	open  map[limiter.ReceiptID]int64 // the windows of charges that can be settled
}

func (s *slidingCounter) used(now limiter.Instant, d *big.Int, l *limiter.Limit) *big.Rat {
	period := big.NewInt(int64(l.Period))
	number, into := new(big.Int).DivMod(since(0, now.Wall, d), period, new(big.Int))
	covered := new(big.Rat).SetFrac(new(big.Int).Sub(period, into), period)
	covered.Mul(covered, whole(s.units[number.Int64()-1]))
	return covered.Add(covered, whole(s.units[number.Int64()]))
}

func (s *slidingCounter) charge(now limiter.Instant, l *limiter.Limit, cost int64, id limiter.ReceiptID) {
	number := new(big.Int).Div(big.NewInt(now.Wall), big.NewInt(int64(l.Period))).Int64()
	s.units[number] += cost
	if s.open == nil {
		s.open = make(map[limiter.ReceiptID]int64)
	}
	s.open[id] = number
}

func (s *slidingCounter) giveBack(_ limiter.Instant, _ *limiter.Limit, id limiter.ReceiptID, units int64) {
	if number, known := s.open[id]; known {
		s.units[number] -= units
	}
}

func (s *slidingCounter) clone() counter {
	return &slidingCounter{maps.Clone(s.units), maps.Clone(s.open)}
}

// logCounter remembers every charge.
type logCounter struct{ charges []charged }

func (g *logCounter) used(now limiter.Instant, d *big.Int, l *limiter.Limit) *big.Rat {
	sum := new(big.Rat)
	for _, c := range g.charges {
		if age := since(c.at, now.Mono, d); age.Cmp(big.NewInt(int64(l.Period))) < 0 {
			sum.Add(sum, c.units)
		}
	}
	return sum
}

func (g *logCounter) charge(now limiter.Instant, _ *limiter.Limit, cost int64, id limiter.ReceiptID) {
	g.charges = append(g.charges, charged{id, now.Mono, whole(cost)})
}

func (g *logCounter) giveBack(_ limiter.Instant, _ *limiter.Limit, id limiter.ReceiptID, units int64) {
	for i := range g.charges {
		if c := &g.charges[i]; c.id == id {
			c.units = new(big.Rat).Sub(c.units, whole(units))
		}
	}
}

func (g *logCounter) clone() counter { return &logCounter{slices.Clone(g.charges)} }
