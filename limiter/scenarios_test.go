package limiter_test

import (
	"math"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Each test is a fault that some limiter shipped.

func TestHugeWaitSaturates(t *testing.T) {
	t.Parallel()
	table := newTable()
	l := &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 1, Period: limiter.MaxPeriod, Burst: limiter.MaxCount}
	take(t, table, l, 0, limiter.MaxCount)
	r := take(t, table, l, 0, limiter.MaxCount)
	if r.Allowed || r.RetryAfter != math.MaxInt64 || r.ResetAfter != math.MaxInt64 {
		t.Errorf("a wait beyond 292 years: %+v", r)
	}
}

func TestLongIdleFillsTheBucket(t *testing.T) {
	t.Parallel()
	for _, count := range []int64{1, 1_000_000, limiter.MaxCount} {
		table := newTable()
		l := &limiter.Limit{Algorithm: limiter.TokenBucket, Count: count, Period: sec}
		take(t, table, l, 0, count)
		if r := take(t, table, l, 50*365*24*time.Hour, 0); r.Remaining != count || r.ResetAfter != 0 {
			t.Errorf("count %d after 50 years: %+v", count, r)
		}
	}
}

func TestPollingDoesNotStarve(t *testing.T) {
	t.Parallel()
	table := newTable()
	l := &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 10, Period: sec}
	take(t, table, l, 0, 10)
	earned := 0
	for at := 50 * ms; at <= sec; at += 50 * ms {
		if take(t, table, l, at, 1).Allowed {
			earned++
		}
	}
	if earned != 10 {
		t.Errorf("10/s, polled every 50 ms for 1 s, earned %d", earned)
	}
}

// A caller who waits exactly RetryAfter is admitted, and 1 ns earlier is not.
func TestRetryAfterIsExact(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		for _, l := range []limiter.Limit{
			{Count: 3, Period: sec}, {Count: 7, Period: 1_000_003}, {Count: 997, Period: time.Hour + 1},
		} {
			l.Algorithm = a
			table := newTable()
			at := 300 * ms
			for range 5 {
				for take(t, table, &l, at, 1).Allowed {
				}
				r := take(t, table, &l, at, 1)
				if early := take(t, table, &l, at+r.RetryAfter-1, 1); early.Allowed || early.RetryAfter != 1 {
					t.Fatalf("%v of %d: 1 ns before RetryAfter: %+v", a, l.Count, early)
				}
				at += r.RetryAfter
				if due := take(t, table, &l, at, 1); !due.Allowed {
					t.Fatalf("%v of %d: after exactly RetryAfter: %+v", a, l.Count, due)
				}
			}
		}
	}
}

func TestRetryAfterIsTheRestOfTheWindow(t *testing.T) {
	t.Parallel()
	table := newTable()
	l := &limiter.Limit{Algorithm: limiter.FixedWindow, Count: 1, Period: time.Minute}
	beginning := 8 * sec // the epoch is 52 s into a minute
	take(t, table, l, beginning, 1)
	if r := take(t, table, l, beginning+59*sec, 1); r.RetryAfter != sec {
		t.Errorf("denied at second 59 of 60: retry after %v", r.RetryAfter)
	}
}

func TestCostAboveCapacity(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		table := newTable()
		l := &limiter.Limit{Algorithm: a, Count: 10, Period: sec}
		capacity := l.Capacity()
		for _, cost := range []int64{capacity + 1, math.MaxInt64} {
			if r := take(t, table, l, 0, cost); r.Allowed || r.RetryAfter != limiter.Never || r.Remaining != capacity {
				t.Errorf("%v: cost %d: %+v", a, cost, r)
			}
		}
		if r := take(t, table, l, 0, 1); !r.Allowed {
			t.Errorf("%v: cost 1 after a cost above the capacity: %+v", a, r)
		}
	}
}

func TestSlowClientIsAlwaysAdmitted(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		for _, align := range []limiter.Align{limiter.AlignEpoch, limiter.AlignFirst} {
			if align != limiter.AlignEpoch && !a.Windowed() {
				continue
			}
			table := newTable()
			l := &limiter.Limit{Algorithm: a, Align: align, Count: 10, Period: time.Minute}
			for i := range 100 {
				at := time.Duration(i) * 30 * sec
				table.Sweep(limiter.At(epoch+int64(at)), 1<<20)
				if !take(t, table, l, at, 1).Allowed {
					t.Errorf("%v: one call each 30 s of 10 per minute: call %d denied", a, i)
				}
			}
		}
	}
}

func TestFirstCallOfAnyCostOpensTheWindow(t *testing.T) {
	t.Parallel()
	table := newTable()
	l := &limiter.Limit{Algorithm: limiter.FixedWindow, Align: limiter.AlignFirst, Count: 5, Period: sec}
	if r := take(t, table, l, 0, 5); r.ResetAfter != sec {
		t.Errorf("cost 5: reset after %v", r.ResetAfter)
	}
	if !take(t, table, l, sec, 5).Allowed {
		t.Error("the window that a call of cost 5 opened does not end")
	}
}

func TestLongQuotaSurvives(t *testing.T) {
	t.Parallel()
	year := 365 * 24 * time.Hour
	table := newTable()
	l := &limiter.Limit{Algorithm: limiter.FixedWindow, Align: limiter.AlignFirst, Count: 10, Period: year}
	take(t, table, l, 0, 4)
	for _, day := range []int{1, 25, 50, 100, 364} {
		at := time.Duration(day) * 24 * time.Hour
		table.Sweep(limiter.At(epoch+int64(at)), 1<<20)
		if r := take(t, table, l, at, 0); r.Remaining != 6 {
			t.Errorf("day %d: remaining %d, want 6", day, r.Remaining)
		}
	}
	if r := take(t, table, l, year, 0); r.Remaining != 10 {
		t.Errorf("after the year: remaining %d, want 10", r.Remaining)
	}
}

func TestClockStepsBack(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		table := newTable()
		l := &limiter.Limit{Algorithm: a, Count: 2, Period: time.Minute}
		for take(t, table, l, 0, 1).Allowed {
		}
		table.Sweep(limiter.At(epoch-int64(time.Hour)), 1<<20)
		for _, back := range []time.Duration{1, sec, time.Hour, 20 * 365 * 24 * time.Hour} {
			if r := take(t, table, l, -back, 1); r.Allowed || r.Remaining != 0 {
				t.Errorf("%v: %v back: %+v", a, back, r)
			}
		}
	}
}

func TestCountChangesUnderLoad(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		if a == limiter.LeakyBucket {
			continue // its capacity does not follow the count
		}
		table := newTable()
		for _, phase := range []struct{ count, admitted int64 }{{10, 10}, {100, 90}, {5, 0}} {
			l := &limiter.Limit{Algorithm: a, Count: phase.count, Period: time.Minute}
			admitted := int64(0)
			for range 200 {
				r := take(t, table, l, 0, 1)
				if r.Remaining < 0 || r.Remaining > phase.count {
					t.Fatalf("%v: remaining %d of %d", a, r.Remaining, phase.count)
				}
				if r.Allowed {
					admitted++
				}
			}
			if admitted != phase.admitted {
				t.Errorf("%v: count %d admitted %d more, want %d", a, phase.count, admitted, phase.admitted)
			}
		}
	}
}

func TestEveryWindowAdmitsTheSame(t *testing.T) {
	t.Parallel()
	for _, align := range []limiter.Align{limiter.AlignEpoch, limiter.AlignFirst} {
		table := newTable()
		l := &limiter.Limit{Algorithm: limiter.FixedWindow, Align: align, Count: 5, Period: sec}
		for window := range 3 {
			admitted := 0
			for range 8 {
				if take(t, table, l, time.Duration(window)*sec, 1).Allowed {
					admitted++
				}
			}
			if admitted != 5 {
				t.Errorf("align %d: window %d admitted %d of 5", align, window, admitted)
			}
		}
	}
}

func TestCallsOfOneInstantAllCount(t *testing.T) {
	t.Parallel()
	table := newTable()
	l := &limiter.Limit{Algorithm: limiter.SlidingLog, Count: 2000, Period: sec}
	for i := range 2000 {
		if r := take(t, table, l, 0, 1); !r.Allowed || r.Remaining != int64(1999-i) {
			t.Fatalf("call %d: %+v", i, r)
		}
	}
	if take(t, table, l, 0, 1).Allowed {
		t.Error("call 2001 of 2000 was admitted")
	}
}
