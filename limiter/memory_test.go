package limiter

import (
	"testing"
	"time"
)

// takeAt charges cost for the i-th subject.
func takeAt(t *testing.T, table *Table, at int64, i int, l *Limit, cost int64) Result {
	t.Helper()
	results := make([]Result, 1)
	call := &Call{Subject: Subject{Hi: uint64(i), Lo: 1}, Charges: []Charge{{Limit: l, Tag: l.Tag(), Cost: cost}}}
	if err := table.Do(At(at), call, results); err != nil {
		t.Fatal(err)
	}
	return results[0]
}

func (t *Table) size() (slots, blocks int) {
	for i := range t.shards {
		slots += t.shards[i].slots.len()
		if logs := t.shards[i].logs; logs != nil {
			blocks += len(logs.blocks)
		}
	}
	return slots, blocks
}

// A flood's memory is given back, slots and log blocks alike.
func TestMemoryAfterAFlood(t *testing.T) {
	t.Parallel()
	table := NewTable(TableOptions{MaxKeys: 300_000})
	long := &Limit{Name: "long", Algorithm: SlidingLog, Count: 100, Period: time.Hour}
	short := &Limit{Name: "short", Algorithm: SlidingLog, Count: 100, Period: time.Second}
	const n, kept = 120_000, 1000
	for i := range n {
		takeAt(t, table, 0, i, short, 1)
	}
	for i := range kept {
		for at := range int64(10) {
			takeAt(t, table, at, i, long, 1)
		}
	}
	table.Sweep(At(int64(time.Minute)), 1<<30)
	slots, blocks := table.size()
	if slots > n/5 || blocks > n/5 {
		t.Errorf("%d slots and %d blocks for %d counters after a flood of %d", slots, blocks, kept, n)
	}
	for i := range kept {
		if r := takeAt(t, table, int64(time.Minute), i, long, 0); r.Remaining != 90 {
			t.Fatalf("counter %d: %+v", i, r)
		}
	}
	table.Sweep(At(int64(3*time.Hour)), 1<<30)
	if slots, _ := table.size(); slots > len(table.shards)*groupSize {
		t.Errorf("%d slots for no counter", slots)
	}
}

// A lowered count makes a debt last longer, so a call that shows it puts the
// counter's expiry off.
func TestLoweredCountPutsExpiryOff(t *testing.T) {
	t.Parallel()
	table := NewTable(TableOptions{})
	fast := &Limit{Algorithm: TokenBucket, Count: 1000, Period: time.Minute}
	slow := &Limit{Algorithm: TokenBucket, Count: 1, Period: time.Minute}
	takeAt(t, table, 0, 1, fast, 1000)
	if r := takeAt(t, table, 0, 1, slow, 1); r.Allowed {
		t.Fatalf("lowered below what is spent: %+v", r)
	}
	later := int64(time.Hour)
	table.Sweep(At(later), 1<<30)
	if r := takeAt(t, table, later, 1, slow, 1); r.Allowed {
		t.Errorf("the debt of 1000 was forgotten after 60 were drained: %+v", r)
	}
	none := &Limit{Algorithm: TokenBucket, Count: 0, Period: time.Minute}
	takeAt(t, table, later, 1, none, 1)
	table.Sweep(At(later+int64(1000*time.Minute)), 1<<30)
	if table.Len() != 0 {
		t.Error("a count of 0 keeps a counter for ever")
	}
}

// A log's units have 16 bits, whatever count an unchecked limit has.
func TestUncheckedLogCount(t *testing.T) {
	t.Parallel()
	table := NewTable(TableOptions{})
	l := &Limit{Algorithm: SlidingLog, Count: MaxCount, Period: time.Minute}
	if r := takeAt(t, table, 0, 1, l, 1<<16); r.Allowed {
		t.Errorf("a cost of 65536: %+v", r)
	}
	if r := takeAt(t, table, 0, 1, l, MaxLogCount); !r.Allowed || r.Remaining != 0 {
		t.Errorf("the largest log: %+v", r)
	}
}

// The rules themselves stand a clock that runs back, though a table's does
// not.
func TestRulesWithAnEarlierNow(t *testing.T) {
	t.Parallel()
	for _, a := range []Algorithm{TokenBucket, LeakyBucket, FixedWindow, SlidingWindow} {
		l := &Limit{Algorithm: a, Count: 1, Period: time.Second}
		var r Result
		s := judge(state{}, &request{now: At(5_000_000_000), limit: l, cost: 1, take: true}, &r)
		for _, at := range []int64{4_999_999_999, 0, minClock} {
			if judge(s, &request{now: At(at), limit: l, cost: 1, take: true}, &r); r.Allowed || r.Remaining != 0 {
				t.Errorf("%v at %d: %+v", a, at, r)
			}
		}
	}
}
