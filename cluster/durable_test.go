package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// notebook is a Journal that writes down what it is told.
type notebook struct {
	kept    map[limiter.CounterID]limiter.Window
	lowered int
	soon    int
	fails   error // of whoever waits; nobody waits without
}

func (n *notebook) Keep(id limiter.CounterID, w limiter.Window, _ int64) Kept {
	n.kept[id] = w
	return n.wait()
}

func (n *notebook) Lower(id limiter.CounterID, read func() limiter.Window, _ int64) Kept {
	n.lowered++
	n.kept[id] = read()
	return n.wait()
}

func (n *notebook) LowerSoon(id limiter.CounterID, read func() limiter.Window, _ int64) {
	n.soon++
	n.kept[id] = read()
}

func (n *notebook) wait() Kept {
	if n.fails == nil {
		return nil
	}
	return func(time.Duration) error { return n.fails }
}

// durableCall charges a durable limit of 10 beside one that is not.
func durableCall(op limiter.Op, cost int64) *limiter.Call {
	quota := &limiter.Limit{Name: "q", Algorithm: limiter.Quota, Count: 10, Period: time.Hour, Durable: true}
	rate := &limiter.Limit{Name: "r", Algorithm: limiter.TokenBucket, Count: 100, Period: time.Hour}
	call := &limiter.Call{Op: op, Subject: limiter.Subject{Lo: 1}, Charges: []limiter.Charge{
		{Limit: rate, Tag: rate.Tag(), Cost: cost}, {Limit: quota, Tag: quota.Tag(), Cost: cost},
	}}
	call.Hold, call.Lapse = limiter.HoldID{Lo: 1}, time.Second
	call.Lease, call.TTL = limiter.LeaseID{Lo: 1}, time.Second
	call.Receipt = limiter.ReceiptID{Lo: uint64(cost)}
	switch { // of the charge of 3, or of 1
	case op == limiter.Settle && cost == 0:
		call.Receipt.Lo, call.Charged = 1, 1
	case op == limiter.Settle:
		call.Receipt.Lo, call.Charged = 3, 3
	}
	return call
}

// The journal hears of what was charged, and of nothing else.
func TestOwnerHasDurableCountersKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil, "a")
	book := &notebook{kept: make(map[limiter.CounterID]limiter.Window)}
	f.owner.journal = book
	id := durableCall(limiter.Take, 1).Charges[1].ID(limiter.Subject{Lo: 1})
	for i, step := range []struct {
		op      limiter.Op
		cost    int64
		used    int64
		lowered int
	}{
		{limiter.Peek, 3, 0, 0},
		{limiter.Take, 3, 3, 0},
		{limiter.Take, 0, 3, 0},
		{limiter.Take, 8, 3, 0}, // denied
		{limiter.Take, 7, 10, 0},
		{limiter.Reset, 1, 0, 1},
		{limiter.Take, 2, 2, 1},
		{limiter.Acquire, 9, 2, 1}, // denied
		{limiter.Acquire, 3, 5, 1},
		{limiter.Hold, 1, 5, 1},
		{limiter.Occupy, 1, 6, 1},
		{limiter.Settle, 5, 8, 1},
		{limiter.Settle, 5, 8, 1}, // again
		{limiter.Take, 1, 9, 1},
		{limiter.Settle, 0, 8, 1}, // which nobody waits for
	} {
		results := make([]limiter.Result, 2)
		if err := f.router.Do(context.Background(), durableCall(step.op, step.cost), results); err != nil {
			t.Fatal(err)
		}
		if book.kept[id].Used != step.used || book.lowered != step.lowered || len(book.kept) > 1 {
			t.Errorf("step %d: kept %+v, lowered %d times; want %+v", i, book.kept, book.lowered, step)
		}
	}
	if book.soon != 1 {
		t.Errorf("%d times something was to be lowered soon", book.soon)
	}
}

// What could not be kept is not answered as admitted.
func TestOwnerThatCannotKeep(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	for _, journal := range []Journal{nil, &notebook{kept: make(map[limiter.CounterID]limiter.Window), fails: full}} {
		f := newFixture(t, nil, "a")
		f.owner.journal = journal
		results := make([]limiter.Result, 2)
		err := f.router.Do(context.Background(), durableCall(limiter.Take, 1), results)
		if !errors.Is(err, ErrUnreachable) || !errors.Is(err, ErrNotKept) || journal != nil && !errors.Is(err, full) {
			t.Errorf("%v", err)
		}
		look := make([]limiter.Result, 2)
		err = f.router.Do(context.Background(), durableCall(limiter.Peek, 1), look)
		if (err == nil) != (journal != nil) {
			t.Errorf("a look: %v", err)
		}
		if journal != nil && look[1].Remaining != 9 {
			t.Errorf("charged all the same, want 9 left: %+v", look[1])
		}
	}
}
