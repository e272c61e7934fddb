package limiter

import (
	"time"
)

// Instant is one reading of the deciding node's clock, in nanoseconds. Only
// the node that holds a counter reads a clock for it.
type Instant struct {
	// Mono never steps: rates and logs use it.
	Mono int64
	// Wall is Unix time that follows the wall clock without stepping:
	// windows use it.
	Wall int64
}

// At is the instant at which both clocks show Unix time ns. Tests and
// simulations use it.
func At(ns int64) Instant { return Instant{Mono: ns, Wall: ns} }

// Op says what a [Call] does. The numbers travel between nodes: the list is
// closed and only appended to.
type Op uint8

const (
	// Take charges every limit if all of them admit the call.
	Take Op = iota
	// Peek answers as Take would, and charges nothing.
	Peek
	// Reset makes the counters as if unused and answers as Peek then would.
	// Holds stay open.
	Reset
	// Hold reserves the cost of every limit if all admit the call, until it is
	// confirmed or cancelled or has lapsed. It answers as Take would, and
	// until then everybody sees its units as spent.
	Hold
	// Confirm charges what was held, whatever the limits say by now, and
	// answers as the admission that it is. Its Delay is 0: the hold told it. If
	// the hold is unknown or has lapsed, it charges all the same, and the limit
	// may owe more than it holds.
	Confirm
	// Cancel gives back what was held and answers as Peek then would.
	Cancel
	// Acquire is a Take that also occupies, in each [Concurrency] limit, a slot
	// for the call's Lease: until it is released, or TTL after the last Acquire
	// or Renew. A lease that has its slots already is admitted again, and
	// nothing changes.
	Acquire
	// Renew begins the TTL of all slots of the Lease anew, if it has them all.
	// What it has not got is denied, with [Never] for a RetryAfter, and nothing
	// changes: what has lapsed does not come back.
	Renew
	// Release frees the slots that the Lease has and answers as Peek then would.
	Release
	// Occupy is the Confirm of a Hold on the way to a lease: it also occupies
	// the slots. If the hold is unknown or has lapsed, a limit without a free
	// slot denies, and the Lease does not get that one.
	Occupy
	// Settle charges Cost in place of what a receipt's charge was, once. Slots
	// have none.
	//
	// The difference is charged whatever the limits say, and the limit may owe
	// more than it holds, or it is given back, as far as it has not drained,
	// left its window or been reset since. Settling again changes nothing. It
	// answers as an admission, with the counters as they are then.
	Settle
)

// OfHold reports whether calls of op name a hold.
func (op Op) OfHold() bool { return op >= Hold && op <= Cancel || op == Occupy }

// OfLease reports whether calls of op name a lease.
func (op Op) OfLease() bool { return op >= Acquire && op <= Occupy }

// occupies reports whether calls of op give their lease slots.
func (op Op) occupies() bool { return op == Acquire || op == Occupy }

// Charge is one limit that a [Call] asks of.
type Charge struct {
	// Limit is read-only and never nil.
	Limit *Limit
	// Tag is Limit.Tag(), computed once per limit and not per call.
	Tag uint64
	// Cost is the units asked for, at least 0. Cost 0 asks whether a cost-1
	// call would pass and charges nothing. A [Concurrency] limit has one slot
	// for a call, whatever its cost, and only for one that acquires: a Take asks
	// whether a slot is free, and occupies none.
	Cost int64
	// Cooldown is how long the limit goes on denying once it has denied, 0 to
	// [MaxCooldown]. 0: it denies for as long as it must. See [Table.Do].
	Cooldown time.Duration
	// Extend begins the cool-down anew with every attempt during it. It means
	// nothing without Cooldown.
	Extend bool
}

// units is what a hold reserves in c.
func (c *Charge) units() int64 {
	if c.Limit.Algorithm == Concurrency {
		return min(c.Cost, 1)
	}
	return c.Cost
}

// counts reports whether charging c changes a counter.
func (c *Charge) counts() bool { return c.Cost > 0 && c.Limit.Algorithm != Concurrency }

// occupies reports whether c has a slot for a lease.
func (c *Charge) occupies() bool { return c.Cost > 0 && c.Limit.Algorithm == Concurrency }

// Call is one check as it reaches the node that decides it: a subject and
// the limits to charge, all or none. Neither the key nor the policy travels.
type Call struct {
	Op      Op
	Subject Subject
	Charges []Charge
	// Hold names the hold that is made, confirmed (occupied) or cancelled.
	// Other calls have none.
	Hold HoldID
	// Lapse is how long a Hold stays open, at most [MaxLapse]. Other calls have
	// none.
	Lapse time.Duration
	// Patient is set by who waits for its turn and then asks again: its denial
	// begins no cool-down. Those that others began deny it too.
	Patient bool
	// Lease names the lease that is acquired (occupied), renewed or released.
	// Other calls have none.
	Lease LeaseID
	// TTL is how long the lease's slots stay occupied without a Renew, in each
	// limit at most its Period. Release has none.
	TTL time.Duration
	// Receipt names the charge that a Take, Acquire, Confirm or Occupy makes, so
	// that it can be settled within [ReceiptLife], or that a Settle is about. The
	// Hold of what is confirmed has it too. Zero: the charge is final.
	Receipt ReceiptID
	// Charged is the cost that the charge to Settle had. Other calls have none.
	Charged int64
}

// MaxCharges bounds the limits of one call.
const MaxCharges = 32
