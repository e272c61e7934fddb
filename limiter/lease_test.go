package limiter_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// slots is a concurrency limit with a TTL of a second.
func slots(count int64) *limiter.Limit {
	return &limiter.Limit{Name: "slots", Algorithm: limiter.Concurrency, Count: count, Period: sec}
}

// leased is a call about the slot of lease id in l, for a second.
func leased(op limiter.Op, id uint64, l *limiter.Limit) *limiter.Call {
	call := callOf(op, somebody, l, 1)
	call.Lease.Lo, call.TTL = id, sec
	if op.OfHold() {
		call.Hold.Lo, call.Lapse = id, sec
	}
	return call
}

// Whatever happens to two leases of a limit of two slots, in whatever order, a
// slot is occupied from its acquisition until it is released or lapses.
func TestLeasesInEveryOrder(t *testing.T) {
	t.Parallel()
	// a, A: acquire; n, N: renew; r, R: release; h, H: hold; o, O: occupy; c:
	// confirm; x: cancel, of the first lease and of the second; -: half a TTL
	// passes; 0: reset. What is denied is followed by !.
	tests := []struct {
		events string
		free   string // after each event
	}{
		{"a", "1"},
		{"ar", "12"},
		{"aa", "11"},
		{"arr", "122"},
		{"aArrR", "10112"},
		{"a-", "11"},
		{"a--", "112"},
		{"a-n-", "1111"},
		{"a-n-n-n-n--", "11111111112"},
		{"a--n!", "1122"},
		{"arn!", "122"},
		{"n!", "2"},
		{"a-A-", "1101"},
		{"a-A-N-", "110111"},
		{"a-A-n!", "11011"},
		{"a0", "12"},
		{"aA0n!", "1022"},
		{"a--a", "1121"},
		{"r", "2"},
		{"ho", "11"},
		{"hor", "112"},
		{"hx", "12"},
		{"hc", "12"},
		{"hoo", "111"},
		{"hxo", "122"},
		{"hHoO", "1000"},
		{"hHoX", "1001"},
		{"h--", "112"},
		{"h--o", "1121"},
		{"aHO", "100"},
		{"ho-n-", "11111"},
		{"o", "1"},
	}
	for _, test := range tests {
		t.Run(test.events, func(t *testing.T) {
			t.Parallel()
			table, l, now := newTable(), slots(2), epoch
			ops := map[rune]limiter.Op{
				'a': limiter.Acquire, 'n': limiter.Renew, 'r': limiter.Release, 'h': limiter.Hold,
				'o': limiter.Occupy, 'c': limiter.Confirm, 'x': limiter.Cancel, '0': limiter.Reset,
			}
			free := test.free
			for i, event := range test.events {
				id := uint64(1)
				switch event {
				case '!':
					continue
				case '-':
					now += int64(sec / 2)
				default:
					if strings.ContainsRune("ANRHOCX", event) {
						id = 2
					}
					op := ops[[]rune(strings.ToLower(string(event)))[0]]
					r := do(t, table, now, leased(op, id, l))
					if denied := strings.HasPrefix(test.events[i+1:], "!"); r.Allowed == denied || op == limiter.Renew && denied && r.RetryAfter != limiter.Never {
						t.Errorf("event %d, %c: %+v", i, event, r)
					}
				}
				if r := do(t, table, now, callOf(limiter.Peek, somebody, l, 1)); r.Remaining != int64(free[0]-'0') {
					t.Fatalf("event %d, %c: %d free, want %c", i, event, r.Remaining, free[0])
				}
				free = free[1:]
			}
			leavesNothing(t, table, now, l)
		})
	}
}

// A slot comes back at its TTL and not a nanosecond before, and what a denial
// says to wait is the time until then.
func TestSlotComesBackAtItsTTL(t *testing.T) {
	t.Parallel()
	table, l := newTable(), slots(1)
	if r := do(t, table, epoch, leased(limiter.Acquire, 1, l)); !r.Allowed || r.Remaining != 0 || r.ResetAfter != sec || r.NextUnit != sec {
		t.Errorf("acquired: %+v", r)
	}
	r := do(t, table, epoch+int64(400*ms), leased(limiter.Acquire, 2, l))
	if r.Allowed || r.RetryAfter != 600*ms || r.NextUnit != 600*ms || r.ResetAfter != 600*ms {
		t.Errorf("denied: %+v", r)
	}
	if r := do(t, table, epoch+int64(sec)-1, leased(limiter.Acquire, 2, l)); r.Allowed || r.RetryAfter != 1 {
		t.Errorf("a nanosecond early: %+v", r)
	}
	if r := do(t, table, epoch+int64(sec), leased(limiter.Acquire, 2, l)); !r.Allowed {
		t.Errorf("at the TTL: %+v", r)
	}
}

// Holders lapse in the order of their times, whatever the order in which they
// came, and a limit bounds the TTL.
func TestHoldersLapseInOrder(t *testing.T) {
	t.Parallel()
	table, l := newTable(), slots(4)
	for i, ttl := range []time.Duration{800 * ms, 200 * ms, time.Hour, 500 * ms} {
		call := leased(limiter.Acquire, uint64(i+1), l)
		call.TTL = ttl
		do(t, table, epoch, call)
	}
	for _, passed := range []time.Duration{0, 100 * ms} {
		want := limiter.Result{Limit: 4, RetryAfter: 200*ms - passed, NextUnit: 200*ms - passed, ResetAfter: sec - passed}
		if got := do(t, table, epoch+int64(passed), callOf(limiter.Peek, somebody, l, 1)); got != want {
			t.Errorf("at %v: got %+v, want %+v", passed, got, want)
		}
	}
	fewer := slots(2) // its two last to come lapse at 800 ms and at 1 s
	if r := do(t, table, epoch+int64(100*ms), callOf(limiter.Take, somebody, fewer, 1)); r.Allowed || r.Remaining != 0 || r.RetryAfter != 700*ms {
		t.Errorf("with fewer slots than holders: %+v", r)
	}
	more := slots(5)
	more.Period = time.Minute
	if r := do(t, table, epoch+int64(100*ms), callOf(limiter.Take, somebody, more, 1)); !r.Allowed || r.Remaining != 1 || r.NextUnit != 100*ms {
		t.Errorf("with more slots and a longer TTL, which is the same counter: %+v", r)
	}
	for at, free := range map[time.Duration]int64{199 * ms: 0, 200 * ms: 1, 500 * ms: 2, 800 * ms: 3, sec: 4} {
		table := newTable()
		for i, ttl := range []time.Duration{800 * ms, 200 * ms, time.Hour, 500 * ms} {
			call := leased(limiter.Acquire, uint64(i+1), l)
			call.TTL = ttl
			do(t, table, epoch, call)
		}
		if got := do(t, table, epoch+int64(at), callOf(limiter.Peek, somebody, l, 1)); got.Remaining != free {
			t.Errorf("at %v: %d free, want %d", at, got.Remaining, free)
		}
	}
}

// A take asks, and occupies nothing, whatever it costs.
func TestTakeOccupiesNothing(t *testing.T) {
	t.Parallel()
	table, l := newTable(), slots(1)
	for _, cost := range []int64{0, 1, 5} {
		if r := do(t, table, epoch, callOf(limiter.Take, somebody, l, cost)); !r.Allowed || r.Remaining != 1 {
			t.Errorf("cost %d: %+v", cost, r)
		}
	}
	call := leased(limiter.Acquire, 1, l)
	call.Charges[0].Cost = 7
	if r := do(t, table, epoch, call); !r.Allowed || table.Len() != 1 {
		t.Errorf("acquired for 7: %+v, %d counters", r, table.Len())
	}
	if r := do(t, table, epoch, callOf(limiter.Take, somebody, l, 1)); r.Allowed {
		t.Errorf("a take beside the holder: %+v", r)
	}
}

// A call that is denied by one limit occupies no slot of another, and spends
// nothing.
func TestAcquireIsAllOrNothing(t *testing.T) {
	t.Parallel()
	wide, narrow := slots(3), slots(1)
	narrow.Name = "narrow"
	rate := &limiter.Limit{Name: "rate", Algorithm: limiter.SlidingLog, Count: 2, Period: time.Hour}
	table, results := newTable(), make([]limiter.Result, 3)
	acquire := func(op limiter.Op, id uint64, limits ...*limiter.Limit) bool {
		call := limiter.Call{Op: op, Subject: somebody, Lease: limiter.LeaseID{Lo: id}, TTL: sec}
		for _, l := range limits {
			call.Charges = append(call.Charges, limiter.Charge{Limit: l, Tag: l.Tag(), Cost: 1})
		}
		if err := table.Do(limiter.At(epoch), &call, results[:len(limits)]); err != nil {
			t.Fatal(err)
		}
		for _, r := range results[:len(limits)] {
			if !r.Allowed {
				return false
			}
		}
		return true
	}
	left := func(want ...int64) {
		t.Helper()
		acquire(limiter.Peek, 9, wide, narrow, rate)
		for i := range want {
			if results[i].Remaining != want[i] {
				t.Errorf("limit %d: %d remain, want %d", i, results[i].Remaining, want[i])
			}
		}
	}
	if !acquire(limiter.Acquire, 1, wide, narrow, rate) {
		t.Errorf("the first is denied: %+v", results)
	}
	left(2, 0, 1)
	if acquire(limiter.Acquire, 2, wide, narrow, rate) {
		t.Error("the narrow limit admits a second")
	}
	left(2, 0, 1)
	acquire(limiter.Acquire, 3, wide, rate)
	if acquire(limiter.Acquire, 4, wide, rate) {
		t.Error("the rate admits a third")
	}
	left(1, 0, 0)
	acquire(limiter.Release, 1, wide, narrow)
	left(2, 1, 0)
	if acquire(limiter.Renew, 3, wide, narrow) || results[0].RetryAfter != 0 || results[1].RetryAfter != limiter.Never {
		t.Errorf("renewed a slot that it never had: %+v", results)
	}
}

// A hold that lapsed has left its slot to others: occupying it then must not
// put one too many in.
func TestOccupyAfterTheLapse(t *testing.T) {
	t.Parallel()
	table, l := newTable(), slots(1)
	do(t, table, epoch, leased(limiter.Hold, 1, l))
	do(t, table, epoch+int64(sec), leased(limiter.Acquire, 2, l))
	if r := do(t, table, epoch+int64(sec), leased(limiter.Occupy, 1, l)); r.Allowed {
		t.Errorf("both have the one slot: %+v", r)
	}
	do(t, table, epoch+int64(sec), leased(limiter.Release, 2, l))
	leavesNothing(t, table, epoch+int64(sec), l)
}

// 100,000 cycles of many leases leave nothing behind.
func TestCyclesLeaveNothing(t *testing.T) {
	table, l := newTable(), slots(limiter.MaxHolders)
	call, results := leased(limiter.Acquire, 1, l), make([]limiter.Result, 1)
	ask := func(op limiter.Op, id int) {
		call.Op, call.Lease.Lo, call.Subject = op, uint64(id+1), subject(id%7)
		if err := table.Do(limiter.At(epoch), call, results); err != nil || !results[0].Allowed {
			t.Fatalf("op %d of lease %d: %+v, %v", op, id, results[0], err)
		}
	}
	const cycles, open = 100_000, 1000
	before := heap()
	for i := range cycles {
		ask(limiter.Acquire, i)
		if i >= open {
			ask(limiter.Release, i-open)
		}
	}
	if table.Len() != open {
		t.Errorf("%d slots are occupied, want %d", table.Len(), open)
	}
	for i := range open {
		ask(limiter.Release, cycles-open+i)
	}
	after := heap()
	if table.Len() != 0 || int64(after-before) > 64<<10 {
		t.Errorf("%d slots are occupied, %d bytes are left", table.Len(), int64(after-before))
	}
	runtime.KeepAlive(table)
}

// Slots that nobody looks at any more are swept, and make room in a full table.
func TestLapsedSlotsAreSwept(t *testing.T) {
	t.Parallel()
	const most = 3000
	table, l := limiter.NewTable(limiter.TableOptions{MaxKeys: most}), slots(10)
	call, results := leased(limiter.Acquire, 1, l), make([]limiter.Result, 1)
	acquire := func(at time.Duration, i int) error {
		call.Subject, call.Lease.Lo = subject(i), uint64(i+1)
		return table.Do(limiter.At(epoch+int64(at)), call, results)
	}
	for i := range most {
		if err := acquire(0, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := acquire(sec-1, most); !errors.Is(err, limiter.ErrFull) {
		t.Errorf("one more than fit: %v", err)
	}
	if err := acquire(sec, most); err != nil {
		t.Errorf("after the others have lapsed: %v", err)
	}
	table.Sweep(limiter.At(epoch+int64(sec)), 1<<20)
	if table.Len() != 1 {
		t.Errorf("%d slots are left, want 1", table.Len())
	}
}

func TestWrongLeases(t *testing.T) {
	t.Parallel()
	rate := &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 5, Period: sec}
	for field, change := range map[string]func(*limiter.Call){
		"lease":            func(c *limiter.Call) { c.Lease = limiter.LeaseID{} },
		"ttl":              func(c *limiter.Call) { c.TTL = 0 },
		"charges[0].limit": func(c *limiter.Call) { c.Op, c.Charges[0].Limit = limiter.Renew, rate },
		"op":               func(c *limiter.Call) { c.Op = limiter.Settle + 1 },
		"hold":             func(c *limiter.Call) { c.Op = limiter.Occupy },
	} {
		call := leased(limiter.Acquire, 1, slots(1))
		change(call)
		var wrong *limiter.CallError
		if err := newTable().Do(limiter.At(epoch), call, make([]limiter.Result, 1)); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestConcurrencyLimitFaults(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*limiter.Limit){
		"count: must be at most": func(l *limiter.Limit) { l.Count = limiter.MaxHolders + 1 },
		"ttl: must be":           func(l *limiter.Limit) { l.Period = limiter.MaxTTL + 1 },
		"burst: only":            func(l *limiter.Limit) { l.Burst = 1 },
		"align: only":            func(l *limiter.Limit) { l.Align = limiter.AlignFirst },
	} {
		l := slots(5)
		change(l)
		if err := l.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if err := slots(5).Validate(); err != nil {
		t.Error(err)
	}
}
