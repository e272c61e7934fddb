package limiter_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func subject(i int) limiter.Subject { return limiter.Subject{Hi: uint64(i), Lo: uint64(i) * 3} }

// Concurrent takes of one counter admit exactly the limit.
func TestConcurrentTakes(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		table := newTable()
		l := &limiter.Limit{Algorithm: a, Count: 500, Period: time.Hour}
		if a == limiter.LeakyBucket {
			l.Burst = 499
		}
		var admitted atomic.Int64
		var workers sync.WaitGroup
		for range 8 {
			workers.Go(func() {
				results := make([]limiter.Result, 1)
				call := callOf(limiter.Take, somebody, l, 1)
				for range 200 {
					if err := table.Do(limiter.At(epoch), call, results); err != nil {
						t.Error(err)
					}
					if results[0].Allowed {
						admitted.Add(1)
					}
				}
			})
		}
		workers.Go(func() {
			for range 200 {
				table.Sweep(limiter.At(epoch), 100)
			}
		})
		workers.Wait()
		if admitted.Load() != 500 {
			t.Errorf("%v: %d of 1600 admitted, want 500", a, admitted.Load())
		}
	}
}

func TestAllOrNothing(t *testing.T) {
	t.Parallel()
	limits := make([]limiter.Limit, 0, 10)
	for _, a := range spending {
		limits = append(limits,
			limiter.Limit{Name: "broad", Algorithm: a, Count: 10, Period: time.Hour, Burst: burstOf(a, 9)},
			limiter.Limit{Name: "narrow", Algorithm: a, Count: 5, Period: time.Minute, Burst: burstOf(a, 4)})
	}
	table := newTable()
	call := &limiter.Call{Subject: somebody}
	for i := range limits {
		call.Charges = append(call.Charges, limiter.Charge{Limit: &limits[i], Tag: limits[i].Tag(), Cost: 1})
	}
	results := make([]limiter.Result, len(call.Charges))
	for i := range 20 {
		if err := table.Do(limiter.At(epoch), call, results); err != nil {
			t.Fatal(err)
		}
		for at := range results {
			broad := limits[at].Name == "broad"
			want := max(int64(4-i), 0)
			if broad {
				want += 5 // what the narrow ones denied was not charged
			}
			if r := results[at]; r.Remaining != want || r.Allowed != (broad || i < 5) {
				t.Fatalf("call %d, %s %v: %+v", i, limits[at].Name, limits[at].Algorithm, r)
			}
		}
	}
}

func burstOf(a limiter.Algorithm, waiting int64) int64 {
	switch a {
	case limiter.LeakyBucket:
		return waiting
	case limiter.TokenBucket:
		return waiting + 1
	default:
		return 0
	}
}

func TestPeekAndReset(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		table := newTable()
		l := &limiter.Limit{Algorithm: a, Count: 30, Period: time.Hour, Burst: burstOf(a, 29)}
		for range 3 {
			if r := do(t, table, epoch, callOf(limiter.Peek, somebody, l, 30)); !r.Allowed || r.Remaining != 30 {
				t.Errorf("%v: peek at an unused counter: %+v", a, r)
			}
		}
		if table.Len() != 0 {
			t.Errorf("%v: a peek made a counter", a)
		}
		for i := range 20 { // at several times, so that a log has several blocks
			take(t, table, l, time.Duration(i)*ms, 1)
		}
		if r := do(t, table, epoch, callOf(limiter.Peek, somebody, l, 11)); r.Allowed || r.Remaining > 11 || r.RetryAfter == 0 {
			t.Errorf("%v: peek for too much: %+v", a, r)
		}
		if r := do(t, table, epoch, callOf(limiter.Reset, somebody, l, 1)); !r.Allowed || r.Remaining != 30 || r.ResetAfter != 0 {
			t.Errorf("%v: reset: %+v", a, r)
		}
		if table.Len() != 0 {
			t.Errorf("%v: %d counters and blocks after a reset", a, table.Len())
		}
	}
}

func TestWrongCalls(t *testing.T) {
	t.Parallel()
	l := &limiter.Limit{Name: "a", Algorithm: limiter.TokenBucket, Count: 5, Period: sec}
	good := limiter.Charge{Limit: l, Tag: l.Tag(), Cost: 1}
	many := make([]limiter.Charge, limiter.MaxCharges+1)
	for i := range many {
		many[i] = limiter.Charge{Limit: l, Tag: uint64(i), Cost: 1}
	}
	tests := []struct {
		field   string
		call    limiter.Call
		results int
	}{
		{"op", limiter.Call{Op: limiter.Settle + 1, Charges: []limiter.Charge{good}}, 1},
		{"hold", limiter.Call{Op: limiter.Hold, Lapse: sec, Charges: []limiter.Charge{good}}, 1},
		{"hold", limiter.Call{Op: limiter.Confirm, Charges: []limiter.Charge{good}}, 1},
		{"lapse", limiter.Call{Op: limiter.Hold, Hold: limiter.HoldID{Lo: 1}, Charges: []limiter.Charge{good}}, 1},
		{"lapse", limiter.Call{Op: limiter.Hold, Hold: limiter.HoldID{Lo: 1}, Lapse: limiter.MaxLapse + 1, Charges: []limiter.Charge{good}}, 1},
		{"receipt", limiter.Call{Op: limiter.Settle, Charges: []limiter.Charge{good}}, 1},
		{"charged", limiter.Call{Op: limiter.Settle, Receipt: limiter.ReceiptID{Lo: 1}, Charged: -1, Charges: []limiter.Charge{good}}, 1},
		{"charges", limiter.Call{}, 0},
		{"charges", limiter.Call{Charges: many}, len(many)},
		{"results", limiter.Call{Charges: []limiter.Charge{good}}, 2},
		{"charges[1].limit", limiter.Call{Charges: []limiter.Charge{good, {}}}, 2},
		{"charges[0].limit", limiter.Call{Charges: []limiter.Charge{{Limit: &limiter.Limit{}}}}, 1},
		{"charges[0].cost", limiter.Call{Charges: []limiter.Charge{{Limit: l, Cost: -1}}}, 1},
		{"charges[1].tag", limiter.Call{Charges: []limiter.Charge{good, good}}, 2},
	}
	table := newTable()
	for _, test := range tests {
		err := table.Do(limiter.At(epoch), &test.call, make([]limiter.Result, test.results))
		var callError *limiter.CallError
		if !errors.As(err, &callError) || callError.Field != test.field || !strings.Contains(err.Error(), test.field) {
			t.Errorf("want an error about %s, got %v", test.field, err)
		}
	}
	if table.Len() != 0 {
		t.Error("a wrong call was charged")
	}
	if err := table.Do(limiter.At(epoch), &limiter.Call{Charges: many[:limiter.MaxCharges]}, make([]limiter.Result, limiter.MaxCharges)); err != nil {
		t.Errorf("%d charges: %v", limiter.MaxCharges, err)
	}
}

// A full table refuses newcomers, keeps counting for those it has, and takes
// newcomers again once counters expire.
func TestFullTable(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 7, 100, 5000} {
		table := limiter.NewTable(limiter.TableOptions{MaxKeys: size})
		l := &limiter.Limit{Algorithm: limiter.FixedWindow, Align: limiter.AlignFirst, Count: 2, Period: time.Minute}
		results := make([]limiter.Result, 1)
		for i := range size {
			do(t, table, epoch, callOf(limiter.Take, subject(i), l, 1))
		}
		for i := size; i < size+50; i++ {
			if err := table.Do(limiter.At(epoch), callOf(limiter.Take, subject(i), l, 1), results); !errors.Is(err, limiter.ErrFull) {
				t.Fatalf("size %d: newcomer %d: %v", size, i, err)
			}
			if r := do(t, table, epoch, callOf(limiter.Peek, subject(i), l, 1)); !r.Allowed {
				t.Errorf("size %d: peek for a newcomer: %+v", size, r)
			}
		}
		for i := range size {
			if r := do(t, table, epoch+1, callOf(limiter.Take, subject(i), l, 1)); !r.Allowed || r.Remaining != 0 {
				t.Fatalf("size %d: counter %d: %+v", size, i, r)
			}
		}
		if table.Len() != size {
			t.Errorf("size %d: %d live", size, table.Len())
		}
		later := epoch + int64(2*time.Minute)
		if r := do(t, table, later, callOf(limiter.Take, subject(size), l, 1)); r.Remaining != 1 {
			t.Errorf("size %d: newcomer after all expired: %+v", size, r)
		}
	}
}

// If one of several limits finds no room, none is charged.
func TestFullTableChargesNothing(t *testing.T) {
	t.Parallel()
	table := limiter.NewTable(limiter.TableOptions{MaxKeys: 4})
	log := &limiter.Limit{Name: "log", Algorithm: limiter.SlidingLog, Count: 100, Period: time.Hour}
	bucket := &limiter.Limit{Name: "bucket", Algorithm: limiter.TokenBucket, Count: 100, Period: time.Hour}
	take(t, table, log, 0, 1) // a counter and a block
	take(t, table, bucket, 0, 1)
	both := callOf(limiter.Take, somebody, log, 1)
	both.Charges = append(both.Charges, limiter.Charge{Limit: bucket, Tag: bucket.Tag(), Cost: 1})
	results := make([]limiter.Result, 2)
	for at := epoch; ; at++ {
		if err := table.Do(limiter.At(at), both, results); err != nil {
			if !errors.Is(err, limiter.ErrFull) {
				t.Fatal(err)
			}
			break
		}
	}
	// Two blocks of six: the first entry is shared by the first two calls.
	if r := take(t, table, bucket, 0, 0); r.Remaining != 100-1-12 {
		t.Errorf("bucket: remaining %d", r.Remaining)
	}
	if r := take(t, table, log, 0, 0); r.Remaining != 100-1-12 {
		t.Errorf("log: remaining %d", r.Remaining)
	}
	if table.Len() != 4 {
		t.Errorf("%d live of 4", table.Len())
	}
}

// Growing, expiring and shrinking loses no live counter.
func TestGrowAndShrink(t *testing.T) {
	t.Parallel()
	const n = 30_000
	table := newTable()
	long := &limiter.Limit{Name: "long", Algorithm: limiter.TokenBucket, Count: 10, Period: 24 * time.Hour}
	short := &limiter.Limit{Name: "short", Algorithm: limiter.SlidingLog, Count: 10, Period: time.Minute}
	for i := range n {
		if i%10 == 0 {
			do(t, table, epoch, callOf(limiter.Take, subject(i), long, 3))
		}
		do(t, table, epoch, callOf(limiter.Take, subject(i), short, 3))
	}
	if want := n/10 + 2*n; table.Len() != want {
		t.Errorf("%d live, want %d", table.Len(), want)
	}
	later := epoch + int64(5*time.Minute)
	if dropped := table.Sweep(limiter.At(later), 1<<30); dropped != n || table.Len() != n/10 {
		t.Errorf("%d dropped, %d live, want %d and %d", dropped, table.Len(), n, n/10)
	}
	for i := range n {
		want := int64(10)
		if i%10 == 0 {
			want = 7
		}
		if r := do(t, table, later, callOf(limiter.Peek, subject(i), long, 1)); r.Remaining != want {
			t.Fatalf("counter %d: %+v", i, r)
		}
	}
}

func TestSweepIsBounded(t *testing.T) {
	t.Parallel()
	const n = 20_000
	table := newTable()
	l := &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 10, Period: sec}
	for i := range n {
		do(t, table, epoch, callOf(limiter.Take, subject(i), l, 1))
	}
	if table.Sweep(limiter.At(epoch), 1<<30) != 0 {
		t.Error("live counters were dropped")
	}
	later := limiter.At(epoch + int64(time.Minute))
	const budget = 1000
	for sweeps := 0; table.Len() > 0; sweeps++ {
		if dropped := table.Sweep(later, budget); dropped > 2*budget {
			t.Fatalf("a budget of %d dropped %d", budget, dropped)
		}
		if sweeps > 10*n/budget {
			t.Fatalf("%d are left after %d sweeps of %d", table.Len(), sweeps, budget)
		}
	}
}

// No call on another subject counts more than 1 ms before one that has ended.
func TestClockIsShared(t *testing.T) {
	t.Parallel()
	table := newTable()
	l := &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 1000, Period: sec}
	for i := range 100 {
		do(t, table, epoch, callOf(limiter.Take, subject(i), l, 1000))
	}
	do(t, table, epoch+int64(sec), callOf(limiter.Peek, subject(1000), l, 1))
	for i := range 100 {
		if r := do(t, table, epoch, callOf(limiter.Peek, subject(i), l, 1)); r.Remaining < 999 {
			t.Errorf("subject %d still counts at the earlier time: %+v", i, r)
		}
	}
}

func TestTakeDoesNotAllocate(t *testing.T) {
	for _, a := range spending {
		table := newTable()
		l := &limiter.Limit{Algorithm: a, Count: 10, Period: sec}
		call, results, at := callOf(limiter.Take, somebody, l, 1), make([]limiter.Result, 1), epoch
		if n := testing.AllocsPerRun(1000, func() {
			at += int64(50 * ms)
			if err := table.Do(limiter.At(at), call, results); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%v: %v allocations for a take", a, n)
		}
	}
}
