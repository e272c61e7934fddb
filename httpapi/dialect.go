package httpapi

import (
	"errors"
	"fmt"
	"slices"
)

// Dialect is a way to tell clients about their limits in header fields.
type Dialect string

const (
	// IETF is RateLimit-Policy and RateLimit as structured fields
	// (draft-ietf-httpapi-ratelimit-headers, revisions 08 to 11).
	IETF Dialect = "ietf"
	// IETF12 is IETF with the parameters of RateLimit twice: r and t as IETF
	// has them, and the same numbers as a and w, the names that revision 12
	// of that draft is expected to give them. Either reader ignores the other
	// names. Beside IETF there is still one RateLimit field, this one.
	IETF12 Dialect = "ietf12"
	// Legacy is RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset of
	// the limit closest to denying (revision 06 of that draft and before).
	Legacy Dialect = "legacy"
	// X is X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset of
	// the limit closest to denying. Its reset is a moment, in Unix seconds
	// rounded up, as in GitHub's API.
	X Dialect = "x"
	// None sends no rate limit fields. It stands alone.
	None Dialect = "none"
)

var dialects = []Dialect{IETF, Legacy, X, IETF12, None}

// MaxJitter is the largest Jitter of [Fields].
const MaxJitter = 0.1

// Fields says which header fields tell a client about its limits. The zero
// value sends Retry-After alone, in seconds.
type Fields struct {
	// Dialects of the rate limit fields, any several at once. They are sent
	// with every decision. Empty: none, as with None.
	Dialects []Dialect
	// RetryAfterDate makes Retry-After of a denial a date (RFC 9110, section
	// 10.2.3) instead of seconds. It is rounded up to a whole second, so that
	// it never comes early.
	RetryAfterDate bool
	// Jitter is the share of the wait, from 0 to MaxJitter, by which
	// Retry-After is put off at random, so that clients that were denied
	// together do not all return together. Seconds are whole: waits too short
	// for a second of it stay as they are. 0: none.
	Jitter float64
}

// Validate reports every fault at once, each beginning with the field's name.
// Fields that are used without it have faults without harm: an unknown dialect
// and a None beside others change nothing, and a Jitter out of range counts as
// the nearest bound.
func (f Fields) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for i, d := range f.Dialects {
		switch {
		case !slices.Contains(dialects, d):
			fault("Dialects[%d]: must be one of %q, got %q", i, dialects, d)
		case d == None && len(f.Dialects) > 1:
			fault("Dialects[%d]: %q stands alone: remove it, or all the others", i, d)
		}
	}
	if !(f.Jitter >= 0 && f.Jitter <= MaxJitter) { // NaN is out of range too
		fault("Jitter: must be 0 to %v, got %v", MaxJitter, f.Jitter)
	}
	return errors.Join(faults...)
}
