package limiter_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// limitOf10 is a limit of 10 that a hold of 4 leaves 6 of, whatever counts it.
func limitOf10(a limiter.Algorithm) *limiter.Limit {
	return &limiter.Limit{Name: "l", Algorithm: a, Count: 10, Period: time.Hour, Burst: burstOf(a, 9)}
}

// held is a call about hold id, open for a second, that costs 4.
func held(op limiter.Op, id uint64, l *limiter.Limit) *limiter.Call {
	call := callOf(op, somebody, l, 4)
	call.Hold.Lo = id
	if op == limiter.Hold {
		call.Lapse = sec
	}
	return call
}

// Whatever happens to two holds in whatever order, a unit is spent if and
// only if a confirmation asked for it.
func TestHoldsEndInEveryOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		events string // h, H: hold; c, C: confirm; x, X: cancel; -: the lapse passes; r: reset
		want   string // remaining after each
	}{
		{"hc", "66"},
		{"hx", "6-"},
		{"h-", "6-"},
		{"hcc", "666"},
		{"hcx", "666"},
		{"hc-", "666"},
		{"hc-x", "6666"},
		{"hcxc-xc", "6666666"},
		{"hxc", "6--"},
		{"hxx", "6--"},
		{"hx-c", "6---"},
		{"h-c", "6-6"},
		{"h-cc", "6-66"},
		{"h-cxc", "6-666"},
		{"h-xc", "6---"},
		{"x", "-"},
		{"xc", "--"},
		{"c", "6"},
		{"cc", "66"},
		{"cx", "66"},
		{"hHcC", "6222"},
		{"hHCc", "6222"},
		{"hHxC", "6266"},
		{"hHXc", "6266"},
		{"hHxX", "626-"},
		{"hHc-", "6226"},
		{"hH-", "62-"},
		{"hHx-C", "626-6"},
		{"hH-cC", "62-62"},
		{"hcHX", "6626"},
		{"hHrcC", "62222"},
		{"hcrC", "66-6"},
	}
	for _, a := range spending {
		for _, test := range tests {
			t.Run(fmt.Sprintf("%v/%s", a, test.events), func(t *testing.T) {
				t.Parallel()
				table, l, now := newTable(), limitOf10(a), epoch
				for i, event := range test.events {
					id := uint64(1)
					if strings.ContainsRune("HCX", event) {
						id = 2
					}
					switch event {
					case 'h', 'H':
						if r := do(t, table, now, held(limiter.Hold, id, l)); !r.Allowed || r.RetryAfter != 0 {
							t.Errorf("event %d: %+v", i, r)
						}
					case 'c', 'C':
						do(t, table, now, held(limiter.Confirm, id, l))
					case 'x', 'X':
						do(t, table, now, held(limiter.Cancel, id, l))
					case 'r':
						do(t, table, now, callOf(limiter.Reset, somebody, l, 1))
					case '-':
						now += int64(sec)
					}
					want := map[byte]int64{'6': 6, '2': 2, '-': 10}[test.want[i]]
					if r := do(t, table, now, callOf(limiter.Peek, somebody, l, 1)); r.Remaining != want {
						t.Fatalf("event %d, %c: %d remain, want %d", i, event, r.Remaining, want)
					}
				}
				leavesNothing(t, table, now, l)
			})
		}
	}
}

// leavesNothing checks that once every hold has lapsed and all counters are
// reset the table is empty: nothing stays reserved, and nothing was given
// back twice.
func leavesNothing(t *testing.T, table *limiter.Table, now int64, l *limiter.Limit) {
	t.Helper()
	now += int64(limiter.MaxLapse)
	table.Sweep(limiter.At(now), 1<<20)
	do(t, table, now, callOf(limiter.Reset, somebody, l, 1))
	if table.Len() != 0 {
		t.Errorf("%d counters are left", table.Len())
	}
}

// A held unit does not drain before it is charged, and windows charge it
// where it is confirmed.
func TestHoldAcrossTheTurnOfAWindow(t *testing.T) {
	t.Parallel()
	// 10 per 10 s; the epoch is 2 s into a window. 6 are taken at 0 s, 4 held
	// at 7.5 s, and 1 asked for at 7.9 s, before the turn, and at 8.1 s,
	// behind it, where the hold is confirmed.
	tests := []struct {
		algorithm              limiter.Algorithm
		before, after, charged int64 // remaining
	}{
		{limiter.TokenBucket, 6, 6, 6}, // the 6 have drained; the 4 do not while they are held
		{limiter.LeakyBucket, 6, 6, 6},
		{limiter.FixedWindow, 0, 6, 6},
		{limiter.SlidingWindow, 0, 0, 0}, // 99 % of 6 and 4
		{limiter.SlidingLog, 0, 0, 0},
	}
	for _, test := range tests {
		table := newTable()
		l := &limiter.Limit{Algorithm: test.algorithm, Count: 10, Period: 10 * sec, Burst: burstOf(test.algorithm, 9)}
		take(t, table, l, 0, 6)
		peek := func(after time.Duration) int64 {
			return do(t, table, epoch+int64(after), callOf(limiter.Peek, somebody, l, 1)).Remaining
		}
		if r := do(t, table, epoch+int64(7500*ms), held(limiter.Hold, 1, l)); !r.Allowed {
			t.Errorf("%v: %+v", test.algorithm, r)
		}
		got := []int64{peek(7900 * ms), peek(8100 * ms)}
		do(t, table, epoch+int64(8100*ms), held(limiter.Confirm, 1, l))
		got = append(got, peek(8100*ms))
		if want := []int64{test.before, test.after, test.charged}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: %d remain, want %d", test.algorithm, got, want)
		}
	}
}

// A confirmation that comes too late is charged although others have spent
// the units meanwhile, and the debt is waited for.
func TestLateConfirmationBecomesDebt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		algorithm limiter.Algorithm
		wait      time.Duration // until one more passes
	}{
		{limiter.TokenBucket, 30 * time.Minute}, // 4 too many and one more, at 10/h
		{limiter.LeakyBucket, 30 * time.Minute},
		{limiter.FixedWindow, 42*time.Minute + 7*sec},
		{limiter.SlidingLog, time.Hour},
	} {
		table, l := newTable(), limitOf10(row.algorithm)
		do(t, table, epoch, held(limiter.Hold, 1, l))
		if r := take(t, table, l, sec, 10); !r.Allowed {
			t.Errorf("%v: %+v", row.algorithm, r)
		}
		late := do(t, table, epoch+int64(sec), held(limiter.Confirm, 1, l))
		next := take(t, table, l, sec, 1)
		if !late.Allowed || late.Remaining != 0 || next.Allowed || next.Contended || next.RetryAfter != row.wait {
			t.Errorf("%v: confirmed %+v, then %+v, want a wait of %v", row.algorithm, late, next, row.wait)
		}
	}
}

// A denial says whether it is the holds of others alone that stand in the way.
func TestContended(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		table, l := newTable(), limitOf10(a)
		take(t, table, l, 0, 4)
		do(t, table, epoch, held(limiter.Hold, 1, l))
		for _, row := range []struct {
			cost               int64
			allowed, contended bool
		}{{2, true, false}, {3, false, true}, {6, false, true}, {7, false, false}, {11, false, false}} {
			for _, op := range []limiter.Op{limiter.Peek, limiter.Hold} {
				call := callOf(op, somebody, l, row.cost)
				call.Hold.Hi, call.Hold.Lo, call.Lapse = uint64(op), uint64(row.cost), 1
				if r := do(t, table, epoch, call); r.Allowed != row.allowed || r.Contended != row.contended {
					t.Errorf("%v, op %d for %d: %+v", a, op, row.cost, r)
				}
				call.Op = limiter.Cancel
				do(t, table, epoch, call)
			}
		}
	}
}

// One hold reserves all its limits or none.
func TestHoldIsAllOrNothing(t *testing.T) {
	t.Parallel()
	table, call := newTable(), &limiter.Call{Op: limiter.Hold, Subject: somebody, Hold: limiter.HoldID{Hi: 1}, Lapse: sec}
	for _, a := range spending {
		broad := limitOf10(a)
		narrow := *broad
		narrow.Name, narrow.Count, narrow.Burst = "narrow", 3, burstOf(a, 2)
		for _, l := range []*limiter.Limit{broad, &narrow} {
			call.Charges = append(call.Charges, limiter.Charge{Limit: l, Tag: l.Tag(), Cost: 2})
		}
	}
	call.Charges = append(call.Charges, limiter.Charge{Limit: limitOf10(limiter.FixedWindow), Tag: 7}) // of cost 0
	results := make([]limiter.Result, len(call.Charges))
	for i, allowed := range []bool{true, false} {
		call.Hold.Lo++
		if err := table.Do(limiter.At(epoch), call, results); err != nil {
			t.Fatal(err)
		}
		for at := range results {
			want := int64(8)
			switch {
			case call.Charges[at].Cost == 0:
				want = 10
			case call.Charges[at].Limit.Name == "narrow":
				want = 1
			}
			if results[at].Remaining != want || results[at].Allowed != (allowed || want > 1) {
				t.Errorf("hold %d, limit %d: %+v, want %d remaining", i, at, results[at], want)
			}
		}
	}
}

// A hold's id is used once.
func TestHoldIDIsUsedOnce(t *testing.T) {
	t.Parallel()
	for _, ending := range []limiter.Op{limiter.Hold, limiter.Confirm, limiter.Cancel} {
		table, l := newTable(), limitOf10(limiter.TokenBucket)
		do(t, table, epoch, held(limiter.Hold, 1, l))
		if ending != limiter.Hold {
			do(t, table, epoch, held(ending, 1, l))
		}
		var wrong *limiter.CallError
		err := table.Do(limiter.At(epoch), held(limiter.Hold, 1, l), make([]limiter.Result, 1))
		if !errors.As(err, &wrong) || wrong.Field != "hold" {
			t.Errorf("after op %d: %v", ending, err)
		}
	}
}

// Holds are bounded: by what a full table has room for, by subject, and in
// all. What is refused holds nothing.
func TestHoldsAreBounded(t *testing.T) {
	t.Parallel()
	big := &limiter.Limit{Algorithm: limiter.TokenBucket, Count: limiter.MaxCount, Period: time.Hour}
	for _, row := range []struct {
		name     string
		keys     int
		subjects int
		want     int
	}{
		{"keys", 50, 1000, 50},
		{"subject", 0, 1, 1 << 10},
		{"all", 0, 1000, 1 << 16},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			table := limiter.NewTable(limiter.TableOptions{MaxKeys: row.keys})
			results := make([]limiter.Result, 1)
			hold := func(i int) error {
				call := callOf(limiter.Hold, subject(i%row.subjects), big, 1)
				call.Hold.Lo, call.Lapse = uint64(i+1), sec
				return table.Do(limiter.At(epoch), call, results)
			}
			for i := range row.want {
				if err := hold(i); err != nil {
					t.Fatalf("hold %d: %v", i, err)
				}
			}
			if err := hold(row.want); !errors.Is(err, limiter.ErrFull) || table.Len() != row.want {
				t.Errorf("one more: %v, %d counters", err, table.Len())
			}
			// Room is kept for what was admitted.
			call := callOf(limiter.Confirm, subject(0), big, 1)
			call.Hold.Lo = 1
			if r := do(t, table, epoch, call); !r.Allowed || table.Len() != row.want {
				t.Errorf("confirmed: %+v, %d counters", r, table.Len())
			}
			table.Sweep(limiter.At(epoch+int64(sec)), 1<<20)
			if table.Len() != 1 {
				t.Errorf("%d counters after the lapse, want 1", table.Len())
			}
		})
	}
}

// Many hold, confirm, cancel and take at one time: exactly the limit is
// spent, and never more than that is admitted.
func TestConcurrentHolds(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		table := newTable()
		l := &limiter.Limit{Algorithm: a, Count: 500, Period: time.Hour, Burst: burstOf(a, 499)}
		var admitted, ids atomic.Int64
		var workers sync.WaitGroup
		for worker := range 8 {
			workers.Go(func() {
				results := make([]limiter.Result, 1)
				call := callOf(limiter.Take, somebody, l, 1)
				ask := func(op limiter.Op) bool {
					call.Op, call.Lapse = op, sec
					if err := table.Do(limiter.At(epoch), call, results); err != nil {
						t.Error(err)
					}
					return results[0].Allowed
				}
				for i := range 300 {
					call.Hold.Lo = uint64(ids.Add(1))
					switch {
					case worker%2 == 0:
						if ask(limiter.Take) {
							admitted.Add(1)
						}
					case !ask(limiter.Hold):
					case i%3 == 0:
						ask(limiter.Cancel)
					default:
						admitted.Add(1)
						ask(limiter.Confirm)
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
		if left := do(t, table, epoch, callOf(limiter.Peek, somebody, l, 1)).Remaining; admitted.Load()+left != 500 || left != 0 {
			t.Errorf("%v: %d admitted, %d left of 500", a, admitted.Load(), left)
		}
	}
}
