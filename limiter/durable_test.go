package limiter_test

import (
	"errors"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// What is read of a counter, and put into a fresh table, decides on as before.
func TestWindowsCanBeCarriedToAnotherTable(t *testing.T) {
	t.Parallel()
	for _, a := range []limiter.Algorithm{limiter.FixedWindow, limiter.Quota} {
		limit := &limiter.Limit{Algorithm: a, Count: 5, Period: time.Hour, Durable: true}
		call := &limiter.Call{Subject: limiter.Subject{Hi: 1, Lo: 2}, Charges: []limiter.Charge{{Limit: limit, Tag: limit.Tag(), Cost: 3}}}
		id := call.Charges[0].ID(call.Subject)
		now := limiter.At(int64(90 * time.Minute))
		first := limiter.NewTable(limiter.TableOptions{})
		if w := first.Window(id); w != (limiter.Window{}) {
			t.Errorf("%v: an unused counter is %+v", a, w)
		}
		results := make([]limiter.Result, 1)
		if err := first.Do(now, call, results); err != nil {
			t.Fatal(err)
		}
		w := first.Window(id)
		if want := (limiter.Window{Used: 3, End: int64(2 * time.Hour)}); w != want {
			t.Errorf("%v: read %+v, want %+v", a, w, want)
		}

		second := limiter.NewTable(limiter.TableOptions{})
		for _, known := range []limiter.Window{w, {Used: 1, End: w.End}, {Used: 5, End: w.End - 1}, {Used: 5, End: int64(time.Hour)}} {
			if err := second.Restore(now, id, known); err != nil { // only the first is news
				t.Fatal(err)
			}
		}
		for i, step := range []struct {
			now       int64
			cost      int64
			allowed   bool
			remaining int64
		}{
			{int64(90 * time.Minute), 3, false, 2},
			{int64(90 * time.Minute), 2, true, 0},
			{int64(2*time.Hour) - 1, 1, false, 0},
			{int64(2 * time.Hour), 1, true, 4},
		} {
			call.Charges[0].Cost = step.cost
			if err := second.Do(limiter.At(step.now), call, results); err != nil {
				t.Fatal(err)
			}
			if r := results[0]; r.Allowed != step.allowed || r.Remaining != step.remaining {
				t.Errorf("%v, step %d: %+v", a, i, r)
			}
		}
		second.Sweep(limiter.At(int64(4*time.Hour)), 1<<20)
		if n := second.Len(); n != 0 {
			t.Errorf("%v: %d counters stay for ever", a, n)
		}
	}
}

func TestRestoreKeepsToTheTablesBound(t *testing.T) {
	t.Parallel()
	table := limiter.NewTable(limiter.TableOptions{MaxKeys: 2})
	for n := range uint64(3) {
		id := limiter.CounterID{Subject: limiter.Subject{Lo: n}, Algorithm: limiter.Quota}
		err := table.Restore(limiter.At(0), id, limiter.Window{Used: 1, End: 1})
		if full := errors.Is(err, limiter.ErrFull); full != (n == 2) {
			t.Errorf("counter %d: %v", n, err)
		}
	}
	buckets := limiter.CounterID{Algorithm: limiter.TokenBucket}
	if err := table.Restore(limiter.At(0), buckets, limiter.Window{Used: 1, End: 1}); err != nil || table.Len() != 2 {
		t.Errorf("a bucket: %v, %d counters", err, table.Len())
	}
}
