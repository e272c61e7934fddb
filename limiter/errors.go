package limiter

import (
	"errors"
	"fmt"
	"time"
)

// ErrFull means that the call needs a new counter and the table holds as
// many live ones as it may, a lease's slot counting as one, that it is a hold
// and too many are open, or that there is no place to remember that a receipt
// is open or settled. Nothing was charged, held or settled, and counters that
// exist go on as before.
var ErrFull = errors.New("limiter: the table is full of live counters; raise its MaxKeys or wait until some expire")

// CallError is a [Call] that cannot be decided. Nothing was charged.
type CallError struct {
	// Field is the path of the field at fault, such as "charges[1].cost".
	Field string
	// Detail says what is wrong and what would be right.
	Detail string
}

// Error joins field and detail.
func (e *CallError) Error() string { return "limiter: " + e.Field + ": " + e.Detail }

// check returns a CallError if the call cannot be decided or its results do
// not fit. It does not validate the limits: see [Limit.Validate].
func (c *Call) check(results int) error {
	switch {
	case c.Op > Settle:
		return &CallError{"op", fmt.Sprintf("must be take, peek, reset, hold, confirm, cancel, acquire, renew, release, occupy or settle, got %d", c.Op)}
	case c.Op.OfLease() && c.Lease == LeaseID{}:
		return &CallError{"lease", "acquiring, renewing and releasing need the lease's id, 128 random bits"}
	case c.Op.OfLease() && c.Op != Release && c.TTL <= 0:
		return &CallError{"ttl", fmt.Sprintf("must be more than 0, got %v", c.TTL)}
	case c.Op.OfHold() && c.Hold == HoldID{}:
		return &CallError{"hold", "holding, confirming and cancelling need the hold's id, 128 random bits"}
	case c.Op == Hold && (c.Lapse <= 0 || c.Lapse > MaxLapse):
		return &CallError{"lapse", fmt.Sprintf("must be more than 0 and at most %v, got %v", MaxLapse, c.Lapse)}
	case c.Op == Settle && c.Receipt == ReceiptID{}:
		return &CallError{"receipt", "settling needs the id of the charge"}
	case c.Op == Settle && c.Charged < 0:
		return &CallError{"charged", fmt.Sprintf("must not be negative, got %d", c.Charged)}
	case len(c.Charges) == 0:
		return &CallError{"charges", "a call needs at least one"}
	case len(c.Charges) > MaxCharges:
		return &CallError{"charges", fmt.Sprintf("at most %d, got %d", MaxCharges, len(c.Charges))}
	case results != len(c.Charges):
		return &CallError{"results", fmt.Sprintf("must be as long as charges, %d, got %d", len(c.Charges), results)}
	}
	for i := range c.Charges {
		charge := &c.Charges[i]
		switch {
		case charge.Limit == nil:
			return chargeError(i, "limit", "must not be nil")
		case !charge.Limit.Algorithm.known():
			return chargeError(i, "limit", errAlgorithm.Error())
		case charge.Cost < 0:
			return chargeError(i, "cost", fmt.Sprintf("must not be negative, got %d", charge.Cost))
		case charge.Cooldown < 0 || charge.Cooldown > MaxCooldown:
			return chargeError(i, "cooldown", fmt.Sprintf("must be 0 to %d days, got %v", MaxCooldown/(24*time.Hour), charge.Cooldown))
		case c.Op == Settle && charge.Limit.Algorithm == Concurrency:
			return chargeError(i, "limit", "a concurrency limit has slots, which are released, and no units to settle")
		case (c.Op == Renew || c.Op == Release) && !charge.occupies():
			return chargeError(i, "limit", "only the slot of a concurrency limit can be renewed or released, at a cost of 1")
		}
		for j := range i {
			// Both would be charged for what one has room for.
			if other := &c.Charges[j]; other.Tag == charge.Tag && other.Limit.Algorithm == charge.Limit.Algorithm {
				return chargeError(i, "tag", fmt.Sprintf("is the same counter as charges[%d]; give each limit of a subject its own name", j))
			}
		}
	}
	return nil
}

func chargeError(i int, field, detail string) error {
	return &CallError{fmt.Sprintf("charges[%d].%s", i, field), detail}
}
