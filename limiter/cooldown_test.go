package limiter_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// coolStep is one call at a time after the epoch. A take of cost 1 if it does
// not say otherwise.
type coolStep struct {
	at       time.Duration
	op       limiter.Op
	cost     int64         // -1: 0
	cooldown time.Duration // from here on; 0 leaves it, -1: none
	patient  bool
	extend   bool // from here on
	sweep    bool // first

	allowed                       bool
	remaining                     int64
	retryAfter, nextUnit, resetIn time.Duration
}

func (s *coolStep) call(l *limiter.Limit, c *limiter.Charge) *limiter.Call {
	switch {
	case s.cooldown < 0:
		c.Cooldown = 0
	case s.cooldown > 0:
		c.Cooldown = s.cooldown
	}
	c.Extend = c.Extend || s.extend
	c.Limit, c.Tag, c.Cost = l, l.Tag(), s.cost
	switch s.cost {
	case 0:
		c.Cost = 1
	case -1:
		c.Cost = 0
	}
	return &limiter.Call{Op: s.op, Subject: somebody, Charges: []limiter.Charge{*c}, Patient: s.patient}
}

func TestCooldownSteps(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	window := limiter.Limit{Algorithm: limiter.FixedWindow, Count: 2, Period: 10 * sec, Align: limiter.AlignFirst}
	tests := []struct {
		name  string
		limit limiter.Limit
		steps []coolStep
	}{
		{"token bucket", limiter.Limit{Algorithm: limiter.TokenBucket, Count: 2, Period: sec}, []coolStep{
			{at: 0, cost: 2, cooldown: minute, allowed: true, nextUnit: 500 * ms, resetIn: sec},
			{at: 0, retryAfter: minute, nextUnit: minute, resetIn: minute}, // the denial that begins it
			{at: 30 * sec, retryAfter: 30 * sec, nextUnit: 30 * sec, resetIn: 30 * sec},
			{at: 0, retryAfter: 30 * sec, nextUnit: 30 * sec, resetIn: 30 * sec}, // back: counts at 30 s
			{at: minute - 1, cost: 2, retryAfter: 1, nextUnit: 1, resetIn: 1},
			{at: minute, cost: 2, allowed: true, nextUnit: 500 * ms, resetIn: sec}, // who waits exactly that long is admitted
			{at: minute, retryAfter: minute, nextUnit: minute, resetIn: minute},    // and another denial begins another
		}},
		{"the limit's own wait is longer", limiter.Limit{Algorithm: limiter.TokenBucket, Count: 1, Period: minute}, []coolStep{
			{at: 0, cooldown: sec, allowed: true, nextUnit: minute, resetIn: minute},
			{at: 0, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: 2 * sec, retryAfter: 58 * sec, nextUnit: 58 * sec, resetIn: 58 * sec},
			{at: minute, allowed: true, nextUnit: minute, resetIn: minute},
		}},
		{"part of the units is left", window, []coolStep{
			{at: 0, cooldown: minute, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: sec, cost: 2, retryAfter: minute, nextUnit: minute, resetIn: minute}, // none is to be had now
			{at: 2 * sec, retryAfter: 59 * sec, nextUnit: 59 * sec, resetIn: 59 * sec},
			{at: 61 * sec, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec},
		}},
		{"a window that lasts longer", window, []coolStep{
			{at: 0, cooldown: 3 * sec, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: sec, cost: 2, retryAfter: 9 * sec, nextUnit: 3 * sec, resetIn: 9 * sec}, // one unit is there after the cool-down, two after the window
			{at: 3 * sec, retryAfter: sec, nextUnit: sec, resetIn: 7 * sec},
			{at: 4 * sec, allowed: true, nextUnit: 6 * sec, resetIn: 6 * sec},
		}},
		{"leaky bucket", limiter.Limit{Algorithm: limiter.LeakyBucket, Count: 1, Period: sec}, []coolStep{
			{at: 0, cooldown: minute, allowed: true, nextUnit: sec, resetIn: sec},
			{at: 0, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: minute, allowed: true, nextUnit: sec, resetIn: sec},
		}},
		{"sliding window", limiter.Limit{Algorithm: limiter.SlidingWindow, Count: 1, Period: 10 * sec}, []coolStep{ // 8 s are left of the window
			{at: 0, cooldown: 30 * sec, allowed: true, nextUnit: 18 * sec, resetIn: 18 * sec},
			{at: 0, retryAfter: 30 * sec, nextUnit: 30 * sec, resetIn: 30 * sec},
			{at: 30*sec - 1, retryAfter: 1, nextUnit: 1, resetIn: 1},
			{at: 30 * sec, allowed: true, nextUnit: 18 * sec, resetIn: 18 * sec},
		}},
		{"sliding log", limiter.Limit{Algorithm: limiter.SlidingLog, Count: 1, Period: 10 * sec}, []coolStep{
			{at: 0, cooldown: minute, allowed: true, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: sec, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: 61*sec - 1, retryAfter: 1, nextUnit: 1, resetIn: 1},
			{at: 61 * sec, allowed: true, nextUnit: 10 * sec, resetIn: 10 * sec},
		}},
		{"what begins none", window, []coolStep{
			{at: 0, cost: 2, cooldown: minute, allowed: true, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, op: limiter.Peek, retryAfter: 10 * sec, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, cost: -1, retryAfter: 10 * sec, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, patient: true, retryAfter: 10 * sec, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, cost: 3, retryAfter: never, nextUnit: 10 * sec, resetIn: 10 * sec}, // more than it ever holds
			{at: 10 * sec, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec},
		}},
		{"who sees it", window, []coolStep{
			{at: 0, cost: 2, cooldown: minute, allowed: true, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: 20 * sec, op: limiter.Peek, retryAfter: 40 * sec, nextUnit: 40 * sec, resetIn: 40 * sec},
			{at: 20 * sec, cost: -1, retryAfter: 40 * sec, nextUnit: 40 * sec, resetIn: 40 * sec},
			{at: 20 * sec, patient: true, retryAfter: 40 * sec, nextUnit: 40 * sec, resetIn: 40 * sec},
			{at: 20 * sec, cost: 3, retryAfter: never, nextUnit: 40 * sec, resetIn: 40 * sec},
			{at: 20 * sec, cooldown: -1, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec}, // a call without cool-down does not
			{at: 21 * sec, cooldown: minute, retryAfter: 39 * sec, nextUnit: 39 * sec, resetIn: 39 * sec},
		}},
		{"extended by attempts only", window, []coolStep{
			{at: 0, cost: 2, cooldown: minute, extend: true, allowed: true, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: 50 * sec, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: 100 * sec, op: limiter.Peek, retryAfter: 10 * sec, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 100 * sec, cost: -1, retryAfter: 10 * sec, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 100 * sec, patient: true, retryAfter: 10 * sec, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 100 * sec, cost: 3, retryAfter: never, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 110 * sec, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec},
		}},
		{"reset", window, []coolStep{
			{at: 0, cost: 2, cooldown: minute, allowed: true, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: sec, op: limiter.Reset, allowed: true, remaining: 2},
			{at: sec, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec},
		}},
		{"reset by who knows of none", window, []coolStep{
			{at: 0, cost: 2, cooldown: minute, allowed: true, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: sec, op: limiter.Reset, cooldown: -1, allowed: true, remaining: 2},
			{at: sec, cooldown: minute, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec},
		}},
		{"the duration changes", window, []coolStep{
			{at: 0, cost: 2, cooldown: minute, allowed: true, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: 20 * sec, cooldown: time.Hour, retryAfter: time.Hour - 20*sec, nextUnit: time.Hour - 20*sec, resetIn: time.Hour - 20*sec},
			{at: 30 * time.Minute, sweep: true, retryAfter: 30 * time.Minute, nextUnit: 30 * time.Minute, resetIn: 30 * time.Minute}, // not dropped after a minute
			{at: 30 * time.Minute, cooldown: 31 * time.Minute, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: 31 * time.Minute, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec},
		}},
		{"what was over stays over, not yet swept", window, []coolStep{
			{at: 0, cost: 2, cooldown: minute, allowed: true, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: minute, cooldown: time.Hour, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec},
		}},
		{"and swept", window, []coolStep{
			{at: 0, cost: 2, cooldown: minute, allowed: true, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, retryAfter: minute, nextUnit: minute, resetIn: minute},
			{at: 2 * minute, sweep: true, cooldown: time.Hour, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec},
		}},
		{"a limit of nothing needs none", limiter.Limit{Algorithm: limiter.FixedWindow, Period: sec}, []coolStep{
			{at: 0, cooldown: minute, retryAfter: never, nextUnit: never},
		}},
		{"the longest", window, []coolStep{
			{at: 0, cost: 2, cooldown: limiter.MaxCooldown, allowed: true, nextUnit: 10 * sec, resetIn: 10 * sec},
			{at: 0, retryAfter: limiter.MaxCooldown, nextUnit: limiter.MaxCooldown, resetIn: limiter.MaxCooldown},
			{at: limiter.MaxCooldown - 1, sweep: true, retryAfter: 1, nextUnit: 1, resetIn: 1},
			{at: limiter.MaxCooldown, allowed: true, remaining: 1, nextUnit: 10 * sec, resetIn: 10 * sec},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			table := newTable()
			var charge limiter.Charge
			for i, s := range test.steps {
				if s.sweep {
					table.Sweep(limiter.At(epoch+int64(s.at)), 1<<20)
				}
				want := limiter.Result{
					Allowed: s.allowed, Limit: test.limit.Count, Remaining: s.remaining,
					RetryAfter: s.retryAfter, NextUnit: s.nextUnit, ResetAfter: s.resetIn,
				}
				got := do(t, table, epoch+int64(s.at), s.call(&test.limit, &charge))
				if got.Cooling && got.Allowed {
					t.Errorf("step %d is admitted in a cool-down", i)
				}
				if got.Cooling = false; got != want { // the oracle says when it is
					t.Fatalf("step %d:\n got %+v\nwant %+v", i, got, want)
				}
			}
		})
	}
}

// pair is a call of two limits with a cool-down of a minute each: 2 per 10 s
// from the first call on, and 5 per hour.
func pair(op limiter.Op, cost int64, extend bool) *limiter.Call {
	call := &limiter.Call{Op: op, Subject: somebody}
	for _, l := range []*limiter.Limit{
		{Name: "narrow", Algorithm: limiter.FixedWindow, Count: 2, Period: 10 * sec, Align: limiter.AlignFirst},
		{Name: "wide", Algorithm: limiter.FixedWindow, Count: 5, Period: time.Hour, Align: limiter.AlignFirst},
	} {
		call.Charges = append(call.Charges, limiter.Charge{Limit: l, Tag: l.Tag(), Cost: cost, Cooldown: time.Minute, Extend: extend})
	}
	return call
}

// Of several limits only those that denied cool down, and an attempt while
// any does begins no other, unless attempts extend.
func TestCooldownOfSeveralLimits(t *testing.T) {
	t.Parallel()
	for _, extend := range []bool{false, true} {
		table := newTable()
		ask := func(at time.Duration, call *limiter.Call) string {
			results := make([]limiter.Result, len(call.Charges))
			if err := table.Do(limiter.At(epoch+int64(at)), call, results); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%v %v %v, %v %v %v",
				results[0].Allowed, results[0].Remaining, results[0].RetryAfter, results[1].Allowed, results[1].Remaining, results[1].RetryAfter)
		}
		tests := []struct {
			at             time.Duration
			op             limiter.Op
			cost           int64
			want, extended string // as "allowed remaining retry_after" of both
		}{
			{at: 0, op: limiter.Take, cost: 2, want: "true 0 0s, true 3 0s"},
			{at: 0, op: limiter.Take, cost: 1, want: "false 0 1m0s, true 3 0s"}, // nothing was charged to the wide one, nor does it cool down
			{at: 30 * sec, op: limiter.Peek, cost: 1, want: "false 0 30s, true 3 0s"},
			{at: 60 * sec, op: limiter.Take, cost: 2, want: "true 0 0s, true 1 0s"},
			{at: 60 * sec, op: limiter.Take, cost: 1, want: "false 0 1m0s, true 1 0s"},
			// The wide one has too little for this attempt and denies it too.
			{at: 90 * sec, op: limiter.Take, cost: 2, want: "false 0 30s, false 1 58m30s", extended: "false 0 1m0s, false 0 58m30s"},
			{at: 120 * sec, op: limiter.Peek, cost: 1, want: "true 2 0s, true 1 0s", extended: "false 0 30s, false 0 30s"},
			{at: 150 * sec, op: limiter.Peek, cost: 1, want: "true 2 0s, true 1 0s"},
		}
		for i, test := range tests {
			want := test.want
			if extend && test.extended != "" {
				want = test.extended
			}
			if got := ask(test.at, pair(test.op, test.cost, extend)); got != want {
				t.Errorf("extend %v, step %d: %s, want %s", extend, i, got, want)
			}
		}
	}
}

// A hold that is denied begins a cool-down like a take, but not if only the
// holds of others are in its way. One that is open is not touched by it.
func TestCooldownAndHolds(t *testing.T) {
	t.Parallel()
	table := newTable()
	l := &limiter.Limit{Name: "l", Algorithm: limiter.FixedWindow, Count: 10, Period: time.Hour, Align: limiter.AlignFirst}
	ask := func(at time.Duration, op limiter.Op, id uint64, cost int64) limiter.Result {
		call := callOf(op, somebody, l, cost)
		call.Charges[0].Cooldown, call.Hold.Lo = time.Minute, id
		if op == limiter.Hold {
			call.Lapse = sec
		}
		return do(t, table, epoch+int64(at), call)
	}
	for i, step := range []struct {
		at                            time.Duration
		op                            limiter.Op
		id                            uint64
		cost                          int64
		allowed, contended, cooling   bool
		remaining                     int64
		retryAfter, nextUnit, resetIn time.Duration
	}{
		{at: 0, op: limiter.Hold, id: 1, cost: 8, allowed: true, remaining: 2, nextUnit: time.Hour, resetIn: time.Hour},
		{at: 0, op: limiter.Take, cost: 5, contended: true, remaining: 2, retryAfter: time.Hour, nextUnit: time.Hour, resetIn: time.Hour},
		{at: 0, op: limiter.Hold, id: 2, cost: 5, contended: true, remaining: 2, retryAfter: time.Hour, nextUnit: time.Hour, resetIn: time.Hour},
		{at: 0, op: limiter.Take, cost: 2, allowed: true, nextUnit: time.Hour, resetIn: time.Hour},
		{at: 0, op: limiter.Hold, id: 3, cost: 9, cooling: true, retryAfter: time.Hour, nextUnit: time.Hour, resetIn: time.Hour}, // 2 are spent
		{at: 0, op: limiter.Take, cost: 1, cooling: true, retryAfter: time.Hour, nextUnit: time.Hour, resetIn: time.Hour},        // not contended: it cools down
		{at: 500 * ms, op: limiter.Confirm, id: 1, cost: 8, allowed: true, nextUnit: time.Hour - 500*ms, resetIn: time.Hour - 500*ms},
		{at: sec, op: limiter.Reset, cost: 1, allowed: true, remaining: 10},
		{at: sec, op: limiter.Take, cost: 9, allowed: true, remaining: 1, nextUnit: time.Hour, resetIn: time.Hour},
		{at: sec, op: limiter.Hold, id: 4, cost: 1, allowed: true, nextUnit: time.Hour, resetIn: time.Hour},
		{at: sec, op: limiter.Hold, id: 5, cost: 2, cooling: true, retryAfter: time.Hour, nextUnit: time.Hour, resetIn: time.Hour},
		{at: sec, op: limiter.Cancel, id: 4, cost: 1, cooling: true, retryAfter: time.Minute, nextUnit: time.Minute, resetIn: time.Hour}, // one is left, after the cool-down
	} {
		want := limiter.Result{
			Allowed: step.allowed, Contended: step.contended, Cooling: step.cooling, Limit: 10, Remaining: step.remaining,
			RetryAfter: step.retryAfter, NextUnit: step.nextUnit, ResetAfter: step.resetIn,
		}
		if got := ask(step.at, step.op, step.id, step.cost); got != want {
			t.Fatalf("step %d:\n got %+v\nwant %+v", i, got, want)
		}
	}
}

// A cool-down takes room while it lasts, and none afterwards.
func TestCooldownsLeaveNothing(t *testing.T) {
	t.Parallel()
	for _, a := range spending {
		table := newTable()
		l := &limiter.Limit{Algorithm: a, Count: 1, Period: sec}
		deny := func(at time.Duration) {
			for range 5 {
				call := callOf(limiter.Take, somebody, l, 1)
				call.Charges[0].Cooldown = time.Minute
				do(t, table, epoch+int64(at), call)
			}
		}
		deny(0)
		full := table.Len()
		table.Sweep(limiter.At(epoch+int64(30*sec)), 1<<20)
		during := table.Len()
		table.Sweep(limiter.At(epoch+int64(70*sec)), 1<<20)
		if after := table.Len(); during != 1 || after != 0 || full < 2 {
			t.Errorf("%v: %d slots, %d during the cool-down, %d after it", a, full, during, after)
		}
		deny(80 * sec)
		do(t, table, epoch+int64(80*sec), callOf(limiter.Reset, somebody, l, 1))
		if n := table.Len(); n != 0 {
			t.Errorf("%v: %d slots after a reset", a, n)
		}
	}
}

// Without room the denial stands, says what is so, and forgets nobody.
func TestCooldownInAFullTable(t *testing.T) {
	t.Parallel()
	table := limiter.NewTable(limiter.TableOptions{MaxKeys: 2})
	l := &limiter.Limit{Algorithm: limiter.FixedWindow, Count: 1, Period: 10 * sec, Align: limiter.AlignFirst}
	ask := func(at time.Duration, i int) limiter.Result {
		call := callOf(limiter.Take, subject(i), l, 1)
		call.Charges[0].Cooldown = time.Minute
		return do(t, table, epoch+int64(at), call)
	}
	for i := range 2 {
		if r := ask(0, i); !r.Allowed {
			t.Fatalf("%+v", r)
		}
	}
	for i := range 2 {
		if r := ask(sec, i); r.Allowed || r.RetryAfter != 9*sec {
			t.Errorf("subject %d: %+v", i, r)
		}
	}
	table.Sweep(limiter.At(epoch+int64(20*sec)), 1<<20)
	if r := ask(20*sec, 0); !r.Allowed {
		t.Errorf("after a cool-down that was not kept: %+v", r)
	}
	if r := ask(21*sec, 0); r.RetryAfter != time.Minute {
		t.Errorf("with room for it: %+v", r)
	}
}

func TestCooldownOutOfRange(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{-1, limiter.MaxCooldown + 1} {
		call := callOf(limiter.Take, somebody, &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 1, Period: sec}, 1)
		call.Charges[0].Cooldown = d
		err := newTable().Do(limiter.At(epoch), call, make([]limiter.Result, 1))
		if fault, ok := errors.AsType[*limiter.CallError](err); !ok || fault.Field != "charges[0].cooldown" || !strings.Contains(fault.Detail, "366 days") {
			t.Errorf("%v: %v", d, err)
		}
	}
}
