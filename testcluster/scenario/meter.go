package scenario

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// meter holds what was admitted against what a limit permits, from outside
// and in the most literal way: it adds up what was surely admitted within an
// interval, and compares. It knows no state of a counter.
//
// It judges each interval that ends with an admission and begins with an
// earlier one. Where a call took time, it is counted only in the intervals
// that contain the whole call, so the meter is never too strict.
type meter struct {
	limit *limiter.Limit
	// times is how often the limit may be spent, by as many counters.
	times int64
	// extra is what may be admitted beyond that.
	extra int64
	spans []span // by their beginning
}

// span is one admitted call: begun and ended in ns of Unix time.
type span struct{ begun, ended, cost int64 }

// tolerance is how exact a limiter's durations are.
const tolerance = time.Microsecond

// maxSpans bounds how far back the meter looks.
const maxSpans = 4096

// add takes in a call, in the order of their ends. The error says which
// interval has too much in it.
func (m *meter) add(begun, ended time.Time, cost int64) error {
	s := span{begun.UnixNano(), ended.UnixNano(), cost}
	at, _ := slices.BinarySearchFunc(m.spans, s, func(a, b span) int { return sign(a.begun - b.begun) })
	m.spans = slices.Insert(m.spans, at, s)
	if len(m.spans) > maxSpans {
		m.spans = m.spans[len(m.spans)-maxSpans:]
	}
	switch m.limit.Algorithm {
	case limiter.TokenBucket, limiter.LeakyBucket:
		return m.bucket(s.ended)
	case limiter.SlidingWindow:
		return m.slidingWindow(s.ended)
	case limiter.FixedWindow, limiter.Quota:
		if m.limit.Align == limiter.AlignEpoch {
			return m.window(s.ended, s.ended-s.ended%int64(m.limit.Period), 1)
		}
		// Where a window begins is not to be seen from outside. No interval as
		// long as one touches more than two.
		return m.window(s.ended, s.ended-int64(m.limit.Period)+1, 2)
	default: // the log keeps the units of one period
		return m.window(s.ended, s.ended-int64(m.limit.Period)+1, 1)
	}
}

// bucket: in any interval, no more than rate times its length and the
// capacity.
func (m *meter) bucket(end int64) error {
	sum := int64(0)
	for i := len(m.spans) - 1; i >= 0; i-- {
		s := m.spans[i]
		sum += s.cost
		if i > 0 && m.spans[i-1].begun == s.begun {
			continue
		}
		length := end - s.begun
		refill := product(uint64(length)+uint64(tolerance), uint64(m.times*m.limit.Count), uint64(m.limit.Period))
		if err := m.within(sum, m.times*m.limit.Capacity()+int64(refill), time.Duration(length)); err != nil {
			return err
		}
	}
	return nil
}

// window: from start on, no more than the count, so many times.
func (m *meter) window(end, start, windows int64) error {
	return m.within(m.between(start, end), m.times*windows*m.limit.Count, time.Duration(end-start))
}

// slidingWindow: the units of this window, and of the one before it the part
// that the last period covers, are no more than the count.
func (m *meter) slidingWindow(end int64) error {
	period := int64(m.limit.Period)
	start := end - end%period
	current, previous := m.between(start, end), m.between(start-period, start-1)
	covered := product(uint64(start+period-end), uint64(previous), uint64(period))
	return m.within(current+int64(covered), m.times*m.limit.Count, m.limit.Period)
}

// between adds up what was admitted from one instant to another, both included.
func (m *meter) between(from, to int64) int64 {
	sum := int64(0)
	for i := len(m.spans) - 1; i >= 0 && m.spans[i].begun >= from; i-- {
		if m.spans[i].ended <= to {
			sum += m.spans[i].cost
		}
	}
	return sum
}

func (m *meter) within(sum, most int64, length time.Duration) error {
	most += m.extra
	if sum <= most {
		return nil
	}
	return fmt.Errorf("%d units of limit %s (%v, %d per %v) within %v, at most %d", sum, m.limit.Name, m.limit.Algorithm, m.limit.Count, m.limit.Period, length, most)
}

// product is a * b / c, rounded down.
func product(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return 1<<63 - 1
	}
	quotient, _ := bits.Div64(hi, lo, c)
	return quotient
}
