package limiter_test

import (
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Whoever is denied a slot brings on a cool-down, which keeps everybody out,
// but takes no slot from who has one.
func TestCooldownOfSlots(t *testing.T) {
	t.Parallel()
	l := &limiter.Limit{Name: "slots", Algorithm: limiter.Concurrency, Count: 1, Period: time.Minute}
	table := newTable()
	for i, step := range []struct {
		at         time.Duration
		op         limiter.Op
		lease      uint64
		patient    bool
		allowed    bool
		cooling    bool
		retryAfter time.Duration
	}{
		{at: 0, op: limiter.Acquire, lease: 1, allowed: true},
		{at: 1 * sec, op: limiter.Acquire, lease: 2, patient: true, retryAfter: 59 * sec},
		{at: 2 * sec, op: limiter.Acquire, lease: 2, cooling: true, retryAfter: 58 * sec},
		{at: 3 * sec, op: limiter.Acquire, lease: 1, allowed: true}, // has it
		{at: 4 * sec, op: limiter.Renew, lease: 1, allowed: true},
		{at: 5 * sec, op: limiter.Renew, lease: 2, retryAfter: limiter.Never},
		{at: 6 * sec, op: limiter.Release, lease: 1, cooling: true, retryAfter: 6 * sec},
		{at: 7 * sec, op: limiter.Acquire, lease: 3, cooling: true, retryAfter: 5 * sec}, // although it is free
		{at: 8 * sec, op: limiter.Occupy, lease: 4, allowed: true},                       // admitted before the cool-down began
		{at: 9 * sec, op: limiter.Renew, lease: 4, allowed: true},
		{at: 10 * sec, op: limiter.Release, lease: 4, cooling: true, retryAfter: 2 * sec},
		{at: 12 * sec, op: limiter.Acquire, lease: 3, allowed: true},
	} {
		call := callOf(step.op, somebody, l, 1)
		call.Charges[0].Cooldown, call.Patient = 10*sec, step.patient
		call.Lease.Lo, call.Hold.Lo, call.TTL = step.lease, step.lease, time.Minute
		r := do(t, table, epoch+int64(step.at), call)
		if r.Allowed != step.allowed || r.Cooling != step.cooling || r.RetryAfter != step.retryAfter {
			t.Fatalf("step %d: %+v", i, r)
		}
	}
}
