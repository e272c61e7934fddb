package limiter

import "time"

// Never is the RetryAfter of a call that can never pass, and the NextUnit of
// a limit whose units do not come back with time.
const Never time.Duration = -1

// Source says where a decision came from, strongest first. The numbers are
// ordered so that the weakest of several is the largest.
type Source uint8

const (
	// SourceOwner is the key's owner: exact.
	SourceOwner Source = iota
	// SourceShare is the asking node's local share of the limit, used while
	// the owner cannot be reached.
	SourceShare
	// SourceFailOpen admitted without counting, as the policy says.
	SourceFailOpen
	// SourceFailClosed denied without counting, as the policy says or
	// because there was no room to count.
	SourceFailClosed
	// SourceNone means that no limit applied.
	SourceNone
)

var sourceNames = [...]string{
	SourceOwner:      "owner",
	SourceShare:      "share",
	SourceFailOpen:   "fail_open",
	SourceFailClosed: "fail_closed",
	SourceNone:       "none",
}

// Sources lists every source in order.
func Sources() []Source {
	return []Source{SourceOwner, SourceShare, SourceFailOpen, SourceFailClosed, SourceNone}
}

// String returns the name used in JSON and in metrics, such as "owner".
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return "unknown"
}

// Result is one limit's answer to one call, with its cool-down if it has begun
// one. Durations are rounded up to whole nanoseconds and saturate instead of
// overflowing.
type Result struct {
	// Allowed says whether this limit admits the call. The call as a whole
	// passes, and is charged, only if every limit admits it.
	Allowed bool
	// Contended is set on a denial that only the open holds of others cause:
	// without them this limit would have admitted the call.
	Contended bool
	// Cooling is set on a denial that has begun a cool-down, or falls into one.
	// Contended is not set then.
	Cooling bool
	// Source says where the answer came from.
	Source Source
	// Limit is the limit's Count.
	Limit int64
	// Remaining is how many cost-1 calls would pass now, never negative. It
	// can exceed Limit up to the burst.
	Remaining int64
	// RetryAfter is the time after which the same call would pass if nothing
	// else happened: 0 if Allowed, [Never] if the cost exceeds the capacity.
	RetryAfter time.Duration
	// NextUnit is the time until one more unit is available: 0 when unused,
	// [Never] when time brings none.
	NextUnit time.Duration
	// ResetAfter is the time until the counter is as if unused.
	ResetAfter time.Duration
	// Delay is how long an admitted call waits its turn in a leaky bucket.
	Delay time.Duration
}
