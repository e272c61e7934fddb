package limiter_test

import (
	"errors"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// A lease is acquired at an estimate, at once or by a hold, and settled while it
// lasts or afterwards: units are settled, and slots are released.
func TestSettlingWhatWasAcquired(t *testing.T) {
	t.Parallel()
	units := &limiter.Limit{Name: "units", Algorithm: limiter.FixedWindow, Count: 100, Period: time.Hour, Align: limiter.AlignFirst}
	of := func(op limiter.Op, cost int64) *limiter.Call {
		call := leased(op, 1, slots(2))
		call.Charges = append(call.Charges, limiter.Charge{Limit: units, Tag: units.Tag(), Cost: cost})
		call.Receipt.Lo = 7
		if op.OfHold() {
			call.Hold.Lo, call.Lapse = 1, sec
		}
		return call
	}
	settle := callOf(limiter.Settle, somebody, units, 81)
	settle.Receipt.Lo, settle.Charged = 7, 10
	release := leased(limiter.Release, 1, slots(2))
	for how, ops := range map[string][]limiter.Op{"at once": {limiter.Acquire}, "by a hold": {limiter.Hold, limiter.Occupy}} {
		for when, then := range map[string][]*limiter.Call{"during the lease": {settle, release}, "after it": {release, settle}} {
			table := newTable()
			for _, op := range ops {
				if r := do(t, table, epoch, of(op, 10)); !r.Allowed || r.Remaining != 1 {
					t.Errorf("%s, op %d: %+v", how, op, r)
				}
			}
			if n := table.Len(); n != 3 {
				t.Errorf("%s: %d places, want those of a slot, a counter and an open charge", how, n)
			}
			for _, call := range then {
				do(t, table, epoch, call)
			}
			do(t, table, epoch, settle) // once more, for nothing
			results := make([]limiter.Result, 2)
			look := of(limiter.Peek, 1)
			if err := table.Do(limiter.At(epoch), look, results); err != nil || results[0].Remaining != 2 || results[1].Remaining != 19 {
				t.Errorf("%s, settled %s: %+v, %v", how, when, results, err)
			}
			if n := table.Len(); n != 2 {
				t.Errorf("%s, settled %s: %d places, want those of a counter and a settled id", how, when, n)
			}
		}
	}
}

// A slot is nobody's to settle.
func TestSlotsAreNotSettled(t *testing.T) {
	t.Parallel()
	call := leased(limiter.Settle, 1, slots(1))
	call.Receipt.Lo = 1
	err := newTable().Do(limiter.At(epoch), call, make([]limiter.Result, 1))
	if wrong, ok := errors.AsType[*limiter.CallError](err); !ok || wrong.Field != "charges[0].limit" {
		t.Error(err)
	}
}
