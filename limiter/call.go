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
	// Settle charges Cost in place of what a receipt's charge was, once.
	//
	// The difference is charged whatever the limits say, and the limit may owe
	// more than it holds, or it is given back, as far as it has not drained,
	// left its window or been reset since. Settling again changes nothing. It
	// answers as an admission, with the counters as they are then.
	Settle
)

// Charge is one limit that a [Call] asks of.
type Charge struct {
	// Limit is read-only and never nil.
	Limit *Limit
	// Tag is Limit.Tag(), computed once per limit and not per call.
	Tag uint64
	// Cost is the units asked for, at least 0. Cost 0 asks whether a cost-1
	// call would pass and charges nothing.
	Cost int64
}

// Call is one check as it reaches the node that decides it: a subject and
// the limits to charge, all or none. Neither the key nor the policy travels.
type Call struct {
	Op      Op
	Subject Subject
	Charges []Charge
	// Hold names the hold that is made, confirmed or cancelled. Other calls
	// have none.
	Hold HoldID
	// Lapse is how long a Hold stays open, at most [MaxLapse]. Other calls have
	// none.
	Lapse time.Duration
	// Receipt names the charge that a Take or Confirm makes, so that it can be
	// settled within [ReceiptLife], or that a Settle is about. The Hold of such
	// a Confirm has it too. Zero: the charge is final.
	Receipt ReceiptID
	// Charged is the cost that the charge to Settle had. Other calls have none.
	Charged int64
}

// MaxCharges bounds the limits of one call.
const MaxCharges = 32
