package limiter_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

// receipted is a take of cost units under receipt id.
func receipted(id uint64, l *limiter.Limit, cost int64) *limiter.Call {
	call := callOf(limiter.Take, somebody, l, cost)
	call.Receipt.Lo = id
	return call
}

// settled settles a take at what it really cost.
func settled(take *limiter.Call, actual int64) *limiter.Call {
	call := callOf(limiter.Settle, take.Subject, take.Charges[0].Limit, actual)
	call.Receipt, call.Charged = take.Receipt, take.Charges[0].Cost
	return call
}

// Of 10 units, 6 are charged under a receipt and then 2 without. What is given
// back of the 6 is what has not drained or left the window.
func TestWhatIsGivenBack(t *testing.T) {
	t.Parallel()
	// An hour begins 3 s before the charges: the next window is 3,597 s away.
	const begin = int64(441_162*time.Hour) + int64(3*time.Second)
	perHour := func(a limiter.Algorithm) *limiter.Limit {
		return &limiter.Limit{Name: "l", Algorithm: a, Count: 10, Period: time.Hour, Burst: burstOf(a, 9)}
	}
	const unit = 6 * time.Minute // a bucket drains one
	for _, row := range []struct {
		why       string
		algorithm limiter.Algorithm
		before    int64 // units that others have taken before
		actual    int64
		after     time.Duration
		later     int64 // units that others take then
		want      int64 // remaining
	}{
		{"all at once", limiter.TokenBucket, 0, 0, 0, 0, 8},
		{"some", limiter.TokenBucket, 0, 4, 0, 0, 4},
		{"nothing", limiter.TokenBucket, 0, 6, 0, 0, 2},
		{"two have drained, so four at most", limiter.TokenBucket, 0, 0, 2 * unit, 0, 8},
		{"two have drained, and one is given back", limiter.TokenBucket, 0, 5, 2 * unit, 0, 5},
		{"half a unit has drained, and the other half is given back", limiter.TokenBucket, 0, 0, unit / 2, 0, 8},
		{"all have drained but for the others'", limiter.TokenBucket, 0, 0, 6 * unit, 0, 8},
		{"those of others have drained first", limiter.TokenBucket, 2, 0, 2 * unit, 0, 8},
		{"more than was left in debt", limiter.TokenBucket, 0, 0, 8 * unit, 0, 10},
		{"what came later is not touched", limiter.TokenBucket, 0, 0, 8 * unit, 7, 3},
		{"from a queue", limiter.LeakyBucket, 0, 0, 0, 0, 8},
		{"from a queue of which two were served", limiter.LeakyBucket, 0, 0, 2 * unit, 0, 8},
		{"in the window", limiter.FixedWindow, 0, 1, 3596 * time.Second, 0, 7},
		{"the window has rolled over", limiter.FixedWindow, 0, 0, 3597 * time.Second, 0, 10},
		{"another window has begun", limiter.FixedWindow, 0, 0, 3597 * time.Second, 7, 3},
		{"in the current window", limiter.SlidingWindow, 0, 0, 3596 * time.Second, 0, 8},
		{"in the previous window", limiter.SlidingWindow, 0, 0, 3597 * time.Second, 0, 8},
		{"both are over", limiter.SlidingWindow, 0, 0, 2 * time.Hour, 0, 10},
		{"others have begun", limiter.SlidingWindow, 0, 0, 2 * time.Hour, 7, 3},
		{"in the log", limiter.SlidingLog, 0, 2, time.Hour - 1, 0, 6},
		{"all of it", limiter.SlidingLog, 2, 0, time.Hour - 1, 0, 6},
		{"has left the log", limiter.SlidingLog, 0, 0, time.Hour, 0, 10},
		{"others are in it", limiter.SlidingLog, 0, 0, time.Hour, 7, 3},
	} {
		table, l := newTable(), perHour(row.algorithm)
		do(t, table, begin, callOf(limiter.Take, somebody, l, row.before))
		take := receipted(1, l, 6)
		if r := do(t, table, begin, take); !r.Allowed {
			t.Fatalf("%s: %+v", row.why, r)
		}
		do(t, table, begin, callOf(limiter.Take, somebody, l, 2))
		at := begin + int64(row.after)
		do(t, table, at, callOf(limiter.Take, somebody, l, row.later))
		for again := range 3 {
			r := do(t, table, at, settled(take, row.actual))
			if !r.Allowed || r.Remaining != row.want || r.RetryAfter != 0 {
				t.Errorf("%v, %s, time %d: %+v, want %d remaining", row.algorithm, row.why, again+1, r, row.want)
			}
		}
	}
}

// Estimate 100, actual 812 at 30,000 a minute: the next call waits exactly as
// long as the debt needs.
func TestDebtIsWaitedFor(t *testing.T) {
	t.Parallel()
	l := limiter.PerMinute(30_000)
	table := newTable()
	take(t, table, &l, 0, 29_900)
	call := receipted(1, &l, 100)
	if r := do(t, table, epoch, call); !r.Allowed || r.Remaining != 0 {
		t.Fatalf("%+v", r)
	}
	if r := do(t, table, epoch, settled(call, 812)); !r.Allowed || r.Remaining != 0 {
		t.Fatalf("%+v", r)
	}
	const wait = 812 * time.Minute / 30_000
	if r := take(t, table, &l, 0, 100); r.Allowed || r.RetryAfter != wait {
		t.Errorf("%+v, want a wait of %v", r, wait)
	}
	if r := take(t, table, &l, wait-1, 100); r.Allowed {
		t.Errorf("a nanosecond early: %+v", r)
	}
	if r := take(t, table, &l, wait, 100); !r.Allowed {
		t.Errorf("after the wait: %+v", r)
	}
}

// However takes and settlements follow each other, what was admitted and kept
// stays within rate x time + burst, over every interval.
func TestSettlingAdmitsNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		algorithm := rapid.SampledFrom([]limiter.Algorithm{limiter.TokenBucket, limiter.LeakyBucket, limiter.SlidingLog}).Draw(t, "algorithm")
		l := &limiter.Limit{Name: "l", Algorithm: algorithm, Count: rapid.Int64Range(1, 20).Draw(t, "count"), Period: time.Second}
		l.Burst = burstOf(algorithm, rapid.Int64Range(1, 30).Draw(t, "burst"))
		table := newTable()
		type charge struct{ at, kept, actual int64 }
		var charges []charge
		var open []*limiter.Call // by the number of the charge
		now := epoch
		results := make([]limiter.Result, 1)
		for range 40 {
			now += rapid.SampledFrom([]int64{0, 0, 1, 99_999_999, int64(l.Period) / l.Count, int64(l.Period)}).Draw(t, "pause")
			if i := rapid.IntRange(0, 2*len(open)).Draw(t, "settle"); i < len(open) {
				if err := table.Do(limiter.At(now), settled(open[i], charges[i].actual), results); err != nil {
					t.Fatal(err)
				}
				charges[i].kept = charges[i].actual
				continue
			}
			call := receipted(uint64(len(open)+1), l, rapid.Int64Range(1, l.Capacity()).Draw(t, "estimate"))
			if err := table.Do(limiter.At(now), call, results); err != nil {
				t.Fatal(err)
			}
			if cost := call.Charges[0].Cost; results[0].Allowed {
				charges = append(charges, charge{now, cost, rapid.Int64Range(0, cost).Draw(t, "actual")})
				open = append(open, call)
			}
		}
		for i := range charges {
			kept := int64(0)
			for _, c := range charges[i:] {
				kept += c.kept
				span := c.at - charges[i].at
				switch {
				case algorithm == limiter.SlidingLog && span >= int64(l.Period):
				case algorithm == limiter.SlidingLog && kept > l.Count,
					algorithm != limiter.SlidingLog && (kept-l.Capacity())*int64(l.Period) > l.Count*span:
					t.Fatalf("%d units within %v by %+v: %+v", kept, time.Duration(span), l, charges)
				}
			}
		}
	})
}

// What was given back before makes room for what comes behind it, so that
// less of that is still there.
func TestGivingBackMovesTheOthersAhead(t *testing.T) {
	t.Parallel()
	l := limiter.PerSecond(1).WithBurst(20)
	table := newTable()
	first, second := receipted(1, &l, 10), receipted(2, &l, 10)
	do(t, table, epoch, first)
	do(t, table, epoch, second)
	do(t, table, epoch, settled(first, 0))
	take(t, table, &l, 10*time.Second, 10) // the second charge has drained by now
	if r := do(t, table, epoch+10*sec.Nanoseconds(), settled(second, 0)); r.Remaining != 10 {
		t.Errorf("%+v: a third charge's units were given away", r)
	}
}

// scenario 36: a charge that was reset has nothing left to give back, and what was never
// charged neither; what it cost more is charged all the same.
func TestSettlingWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		l := limitOf10(a)
		table := newTable()
		reset, denied := receipted(1, l, 4), receipted(2, l, 9)
		do(t, table, epoch, reset)
		if r := do(t, table, epoch, denied); r.Allowed {
			t.Fatalf("%v: %+v", a, r)
		}
		do(t, table, epoch, callOf(limiter.Reset, somebody, l, 1))
		do(t, table, epoch, callOf(limiter.Take, somebody, l, 3))
		for _, call := range []*limiter.Call{reset, denied, receipted(3, l, 10)} {
			if r := do(t, table, epoch, settled(call, 0)); r.Remaining != 7 {
				t.Errorf("%v, receipt %d: %+v, want 7 remaining", a, call.Receipt.Lo, r)
			}
		}
		if r := do(t, table, epoch, settled(receipted(4, l, 0), 2)); r.Remaining != 5 {
			t.Errorf("%v: %+v, want 5 remaining", a, r)
		}
	}
}

func TestSettlingAtOneTime(t *testing.T) {
	t.Parallel()
	l := limitOf10(limiter.TokenBucket)
	table := newTable()
	call := receipted(1, l, 1)
	do(t, table, epoch, call)
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			results := make([]limiter.Result, 1)
			if err := table.Do(limiter.At(epoch), settled(call, 3), results); err != nil || results[0].Remaining != 7 {
				t.Errorf("%+v, %v", results, err)
			}
		})
	}
	calls.Wait()
}

// Two subjects of one receipt are settled each for itself, though they are in
// one shard.
func TestSubjectsOfOneReceipt(t *testing.T) {
	t.Parallel()
	l := limitOf10(limiter.FixedWindow)
	table := limiter.NewTable(limiter.TableOptions{MaxKeys: 64})
	for i := range uint64(5) {
		call := receipted(1, l, 4)
		call.Subject.Lo += i
		do(t, table, epoch, call)
		if r := do(t, table, epoch, settled(call, 1)); r.Remaining != 9 {
			t.Errorf("subject %d: %+v", i, r)
		}
	}
}

// A receipt takes a place for each limit while it is open, one for some more
// than an hour once it is settled, and none after that.
func TestReceiptsAreForgotten(t *testing.T) {
	t.Parallel()
	table := limiter.NewTable(limiter.TableOptions{MaxKeys: 64})
	day := &limiter.Limit{Name: "day", Algorithm: limiter.FixedWindow, Count: 1000, Period: 24 * time.Hour, Align: limiter.AlignFirst}
	bucket := limiter.PerMinute(60)
	length := func(when string, after time.Duration, want int) {
		t.Helper()
		table.Sweep(limiter.At(epoch+int64(after)), 1000)
		if got := table.Len(); got != want {
			t.Errorf("%s: %d places, want %d", when, got, want)
		}
	}
	both := receipted(1, day, 60)
	both.Charges = append(both.Charges, limiter.Charge{Limit: &bucket, Tag: bucket.Tag(), Cost: 60})
	do(t, table, epoch, both)
	do(t, table, epoch, receipted(2, day, 1))
	length("two counters, three open charges", 0, 5)
	length("the bucket has drained", 2*time.Minute, 3)
	do(t, table, epoch, settled(receipted(3, day, 5), 5))
	length("one id besides", 2*time.Minute, 4)
	do(t, table, epoch, settled(both, 60))
	length("two of them, one charge open", 2*time.Minute, 4)
	length("the receipts are still good", limiter.ReceiptLife, 4)
	length("they are not any more", limiter.ReceiptLife+15*time.Minute, 1)
	length("the day is over", 25*time.Hour, 0)
}

// A counter of which all is given back takes no room any more.
func TestUnusedCountersGoAtOnce(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		table := newTable()
		call := receipted(1, limitOf10(a), 4)
		do(t, table, epoch, call)
		do(t, table, epoch, settled(call, 0))
		if table.Len() != 1 {
			t.Errorf("%v: %d places, want that of the settled id", a, table.Len())
		}
	}
}

// On one counter no more than 4,096 charges are kept: the oldest can then be
// given back no more.
func TestOpenChargesAreBounded(t *testing.T) {
	t.Parallel()
	l := &limiter.Limit{Name: "l", Algorithm: limiter.FixedWindow, Count: 1 << 20, Period: time.Hour, Align: limiter.AlignFirst}
	table := newTable()
	const most = 4096
	for i := range uint64(most + 2) {
		do(t, table, epoch, receipted(i+1, l, 2))
	}
	if got := table.Len(); got != 1+most {
		t.Errorf("%d places", got)
	}
	left := l.Count - 2*(most+2)
	for _, row := range []struct {
		id   uint64
		back int64
	}{{1, 0}, {2, 0}, {3, 2}, {most + 2, 2}} {
		left += row.back
		if r := do(t, table, epoch, settled(receipted(row.id, l, 2), 0)); r.Remaining != left {
			t.Errorf("receipt %d: %d remaining, want %d", row.id, r.Remaining, left)
		}
	}
}

// A full table takes no receipt that it could not settle once only, and
// settles those that it has taken.
func TestReceiptsInAFullTable(t *testing.T) {
	t.Parallel()
	l := limitOf10(limiter.FixedWindow)
	table := limiter.NewTable(limiter.TableOptions{MaxKeys: 2})
	first, results := receipted(1, l, 4), make([]limiter.Result, 1)
	do(t, table, epoch, first)
	for _, call := range []*limiter.Call{receipted(2, l, 1), settled(receipted(2, l, 4), 5), settled(receipted(2, l, 4), 0)} {
		if err := table.Do(limiter.At(epoch), call, results); !errors.Is(err, limiter.ErrFull) {
			t.Errorf("op %d: %v", call.Op, err)
		}
	}
	for range 2 {
		if r := do(t, table, epoch, settled(first, 9)); r.Remaining != 1 {
			t.Errorf("%+v", r)
		}
	}
}

// A charge that was held and confirmed is settled as any other, and a hold
// keeps the place for it.
func TestConfirmedChargesAreSettled(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		l := limitOf10(a)
		table := limiter.NewTable(limiter.TableOptions{MaxKeys: 3})
		call := held(limiter.Hold, 1, l)
		call.Receipt.Lo = 1
		do(t, table, epoch, call)
		if table.Len() < 2 {
			t.Errorf("%v: the hold takes %d places", a, table.Len())
		}
		confirm := *call
		confirm.Op, confirm.Lapse = limiter.Confirm, 0
		if r := do(t, table, epoch, &confirm); r.Remaining != 6 {
			t.Errorf("%v: %+v", a, r)
		}
		if r := do(t, table, epoch, settled(call, 1)); r.Remaining != 9 {
			t.Errorf("%v: %+v", a, r)
		}
	}
}
