package limiter_test

import (
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func TestShare(t *testing.T) {
	t.Parallel()
	limit := func(a limiter.Algorithm, count int64, period time.Duration, burst int64) limiter.Limit {
		return limiter.Limit{Name: "l", Algorithm: a, Count: count, Period: period, Burst: burst}
	}
	const (
		token, leaky  = limiter.TokenBucket, limiter.LeakyBucket
		fixed, slides = limiter.FixedWindow, limiter.SlidingWindow
	)
	tests := []struct {
		why   string
		whole limiter.Limit
		n     int
		want  limiter.Limit
		ok    bool
	}{
		{"rounded down", limit(fixed, 100, sec, 0), 3, limit(fixed, 33, sec, 0), true},
		{"nothing left", limit(slides, 2, sec, 0), 3, limit(slides, 0, sec, 0), false},
		{"alone", limit(fixed, 2, sec, 0), 1, limit(fixed, 2, sec, 0), true},
		{"alone, count 0", limit(fixed, 0, sec, 0), 1, limit(fixed, 0, sec, 0), false},
		{"default burst", limit(token, 100, sec, 0), 3, limit(token, 33, sec, 33), true},
		{"own burst", limit(token, 100, sec, 10), 3, limit(token, 33, sec, 3), true},
		{"burst too small", limit(token, 100, sec, 2), 3, limit(token, 33, sec, 0), false},
		{"rate stretched", limit(token, 2, time.Minute, 30), 3, limit(token, 2, 3*time.Minute, 10), true},
		{"rate stretched to the end of time", limit(token, 1, limiter.MaxPeriod, 1000), 1000, limit(token, 1, 1<<62-1, 1), true},
		{"leaky", limit(leaky, 9, sec, 7), 3, limit(leaky, 3, sec, 2), true},
		{"leaky without a queue", limit(leaky, 9, sec, 0), 3, limit(leaky, 3, sec, 0), true},
		{"leaky, stretched", limit(leaky, 1, sec, 7), 3, limit(leaky, 1, 3*sec, 2), true},
		{"leaky, nothing left", limit(leaky, 1, sec, 1), 3, limit(leaky, 0, sec, 0), false},
		{"bucket of count 0", limit(token, 0, sec, 50), 3, limit(token, 0, sec, 0), false},
	}
	for _, test := range tests {
		got, ok := test.whole.Share(test.n)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%s: got %+v %v, want %+v %v", test.why, got, ok, test.want, test.ok)
		}
	}
}

// All shares together never admit more than the limit: here each takes as
// much as it can for a while.
func TestSharesStayWithinTheLimit(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		if a == limiter.LeakyBucket {
			continue // its shares serve one unit each
		}
		for _, n := range []int{2, 3, 7} {
			whole := limiter.Limit{Algorithm: a, Count: 5, Period: sec, Burst: burstOf(a, 20)}
			share, ok := whole.Share(n)
			if !ok {
				continue
			}
			table := newTable()
			admitted := int64(0)
			const seconds = 60
			for at := time.Duration(0); at < seconds*sec; at += 100 * ms {
				for take(t, table, &share, at, 1).Allowed {
					admitted++
				}
			}
			if most := whole.Capacity() + whole.Count*seconds; admitted*int64(n) > most {
				t.Errorf("%v: %d shares admitted %d each, %d in all", a, n, admitted, most)
			}
			if admitted == 0 {
				t.Errorf("%v: a share of 1/%d admitted nothing", a, n)
			}
		}
	}
}

func TestWindowEnd(t *testing.T) {
	t.Parallel()
	tests := []struct {
		limit limiter.Limit
		want  time.Duration
	}{
		{limiter.Limit{Algorithm: limiter.FixedWindow, Period: time.Minute}, 8 * sec},
		{limiter.Limit{Algorithm: limiter.SlidingWindow, Period: time.Minute}, 8 * sec},
		{limiter.Limit{Algorithm: limiter.FixedWindow, Period: time.Minute, Align: limiter.AlignFirst}, time.Minute},
		{limiter.Limit{Algorithm: limiter.FixedWindow, Period: time.Hour, Align: limiter.AlignCalendar, Calendar: limiter.Hour}, 42*time.Minute + 8*sec},
		{limiter.Limit{Algorithm: limiter.TokenBucket, Period: time.Minute}, time.Minute},
		{limiter.Limit{Algorithm: limiter.LeakyBucket, Period: time.Minute}, time.Minute},
		{limiter.Limit{Algorithm: limiter.SlidingLog, Period: time.Minute}, time.Minute},
	}
	for _, test := range tests {
		if got := test.limit.WindowEnd(limiter.At(epoch)); got != test.want {
			t.Errorf("%+v: got %v, want %v", test.limit, got, test.want)
		}
	}
}
