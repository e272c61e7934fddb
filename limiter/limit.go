package limiter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Algorithm says how a [Limit] counts. The zero value is not an algorithm.
// The numbers travel between nodes: the list is closed and only appended to.
type Algorithm uint8

const (
	// TokenBucket holds up to the burst and refills at count/period.
	TokenBucket Algorithm = 1 + iota
	// LeakyBucket is a queue that drains at count/period; up to burst units
	// may wait in it, and an admitted call is told its delay.
	LeakyBucket
	// FixedWindow counts per window: of the Unix epoch, of the calendar, or
	// opened by the first call. Twice the count can pass across an edge.
	FixedWindow
	// SlidingWindow weighs the previous window by the part of it that the
	// sliding one still covers.
	SlidingWindow
	// SlidingLog keeps every admitted call's time: exact over any interval
	// of one period, at a price in memory that grows with the count.
	SlidingLog
	// Concurrency counts who is at it now: each holder has a slot until it
	// lets go of it, or has not renewed it for as long as it said that it
	// would need. See [Acquire].
	Concurrency
	// Quota counts as FixedWindow does. It is the long counter of a plan, a
	// month's calls, bytes or tokens: denials are told apart from those of
	// rates, and the configuration's quotas are Durable.
	Quota
)

var algorithmNames = [...]string{
	TokenBucket:   "token_bucket",
	LeakyBucket:   "leaky_bucket",
	FixedWindow:   "fixed_window",
	SlidingWindow: "sliding_window",
	SlidingLog:    "sliding_log",
	Concurrency:   "concurrency",
	Quota:         "quota",
}

// Algorithms lists every algorithm in the order of its number.
func Algorithms() []Algorithm {
	return []Algorithm{TokenBucket, LeakyBucket, FixedWindow, SlidingWindow, SlidingLog, Concurrency, Quota}
}

// ParseAlgorithm returns the algorithm with the given configuration name.
func ParseAlgorithm(name string) (Algorithm, bool) {
	for _, a := range Algorithms() {
		if algorithmNames[a] == name {
			return a, true
		}
	}
	return 0, false
}

// String returns the configuration name, such as "token_bucket".
func (a Algorithm) String() string {
	if a.known() {
		return algorithmNames[a]
	}
	return fmt.Sprintf("algorithm(%d)", uint8(a))
}

func (a Algorithm) known() bool { return a >= TokenBucket && a <= Quota }

// Windowed reports whether a counts in windows that an [Align] places.
func (a Algorithm) Windowed() bool { return a == FixedWindow || a == Quota }

// Align says where the windows of a [FixedWindow] or [Quota] begin. The numbers travel
// between nodes. The zero value is AlignEpoch.
type Align uint8

const (
	// AlignEpoch begins windows at multiples of the period since the Unix epoch.
	AlignEpoch Align = iota
	// AlignCalendar begins windows with the minute, hour, day, week, month
	// or year of a time zone.
	AlignCalendar
	// AlignFirst begins a window with the first admitted call.
	AlignFirst
)

// Calendar is the length of a calendar-aligned window. The numbers travel
// between nodes. The zero value belongs to every other alignment.
type Calendar uint8

// Calendar periods.
const (
	Minute Calendar = 1 + iota
	Hour
	Day
	Week  // from Monday
	Month // from the limit's Anchor
	Year
)

// Bounds of a [Limit]. Their product stays far inside the 128 bits of the
// arithmetic.
const (
	MinPeriod   = time.Millisecond
	MaxPeriod   = 366 * 24 * time.Hour
	MaxCount    = 1_000_000_000_000_000
	MaxLogCount = 10_000
	MaxHolders  = 10_000         // count of a Concurrency limit
	MaxTTL      = 24 * time.Hour // its period
)

// DefaultTTL is the Period of a [Concurrency] limit where its configuration
// gives none.
const DefaultTTL = 30 * time.Second

// Limit is what a key may spend: Count units per Period. It travels with
// every check, so the owner of a key needs no policies.
//
// Limits are values: treat one that others hold as read-only.
type Limit struct {
	// Name tells the limits of one policy apart. It is part of the
	// counter's identity.
	Name string
	// Algorithm says how units are counted. Required.
	Algorithm Algorithm
	// Count is the number of units per Period, 0 to MaxCount; of Concurrency the
	// number of slots. 0 denies all.
	Count int64
	// Period is MinPeriod to MaxPeriod. For a calendar window it is the
	// nominal length (a month is 30 days, a year 365). For Concurrency it is
	// the longest TTL that a holder may ask for, up to MaxTTL.
	Period time.Duration
	// Burst is the capacity of a token bucket (0: Count) and the number of
	// units that may wait in a leaky bucket (0: none). Others have none.
	Burst int64
	// Align, Calendar, Zone and Anchor place the windows of a FixedWindow or
	// Quota.
	Align Align
	// Calendar is set if and only if Align is AlignCalendar.
	Calendar Calendar
	// Zone is where a calendar window begins. Nil is UTC.
	Zone *time.Location
	// Anchor is the day, 1 to 31, on which a calendar month begins; shorter
	// months begin on their last day. 0 is 1. Other windows have none.
	Anchor int
	// Unit is what Count counts. It is for those who read the answers, and
	// makes no difference to what is admitted. Concurrency counts requests.
	Unit Unit
	// Durable counters outlive their node: they are on disk before a call
	// that they admit is answered. Only FixedWindow and Quota can be, and only
	// on nodes that have a place for them. Nobody spends a share of one. Others
	// start afresh with their node: a Quota too, unless whoever makes it says
	// otherwise.
	Durable bool
}

// Unit is what the units of a [Limit] are. The zero value is Requests.
type Unit uint8

// Units of limits.
const (
	Requests Unit = iota
	Bytes
	Tokens
	// ConcurrentRequests is what every [Concurrency] limit counts, and no
	// other: no limit's Unit says so. See [Limit.Counts].
	ConcurrentRequests
)

var unitNames = [...]string{Requests: "requests", Bytes: "bytes", Tokens: "tokens", ConcurrentRequests: "concurrent-requests"}

// ParseUnit returns the unit with the given configuration name.
func ParseUnit(name string) (Unit, bool) {
	for u, n := range UnitNames() {
		if n == name {
			return Unit(u), true
		}
	}
	return 0, false
}

// UnitNames lists the configuration names of the units that a limit can have.
func UnitNames() []string { return unitNames[:ConcurrentRequests] }

// String returns the configuration name, such as "requests".
func (u Unit) String() string {
	if int(u) < len(unitNames) {
		return unitNames[u]
	}
	return fmt.Sprintf("unit(%d)", uint8(u))
}

// Errors of a [Limit] that cannot be used, each with the field's name first.
var (
	errAlgorithm = errors.New("algorithm: must be one of token_bucket, leaky_bucket, fixed_window, sliding_window, sliding_log, concurrency, quota")
	errCount     = fmt.Errorf("count: must be 0 to %d", int64(MaxCount))
	errLogCount  = fmt.Errorf("count: must be at most %d in a sliding_log, which keeps every call; sliding_window has no such bound", MaxLogCount)
	errHolders   = fmt.Errorf("count: must be at most %d in a concurrency limit, which remembers every holder", MaxHolders)
	errTTL       = fmt.Errorf("ttl: must be %v to %d hours", MinPeriod, MaxTTL/time.Hour)
	errPeriod    = fmt.Errorf("period: must be %v to %d days", MinPeriod, MaxPeriod/(24*time.Hour))
	errBurst     = fmt.Errorf("burst: must be 0 to %d", int64(MaxCount))
	errNoBurst   = errors.New("burst: only token_bucket and leaky_bucket have a burst")
	errAlign     = errors.New("align: only fixed_window and quota have windows to align")
	errCalendar  = errors.New("align: a calendar window needs a calendar period (minute, hour, day, week, month, year), and only a calendar window has one")
	errZone      = errors.New("timezone: only a calendar window has a time zone")
	errUnit      = fmt.Errorf("unit: must be one of %v", UnitNames())
	errNoUnit    = errors.New("unit: a concurrency limit counts requests, and nothing else")
	errDurable   = errors.New("durable: only fixed_window and quota can be durable")
	errAnchor    = errors.New("anchor: must be a day from 1 to 31, and only calendar months have one")
)

// Validate reports every fault of l, each beginning with the field's name, or nil.
func (l *Limit) Validate() error {
	var faults []error
	check := func(ok bool, fault error) {
		if !ok {
			faults = append(faults, fault)
		}
	}
	buckets := l.Algorithm == TokenBucket || l.Algorithm == LeakyBucket
	check(l.Algorithm.known(), errAlgorithm)
	check(l.Count >= 0 && l.Count <= MaxCount, errCount)
	check(l.Algorithm != SlidingLog || l.Count <= MaxLogCount, errLogCount)
	if l.Algorithm == Concurrency {
		check(l.Count <= MaxHolders, errHolders)
		check(l.Period >= MinPeriod && l.Period <= MaxTTL, errTTL)
	} else {
		check(l.Period >= MinPeriod && l.Period <= MaxPeriod, errPeriod)
	}
	check(l.Burst >= 0 && l.Burst <= MaxCount, errBurst)
	check(l.Burst == 0 || buckets, errNoBurst)
	check(l.Align == AlignEpoch || l.Algorithm.Windowed() && l.Align <= AlignFirst, errAlign)
	check((l.Align == AlignCalendar) == (l.Calendar != 0) && l.Calendar <= Year, errCalendar)
	check(l.Zone == nil || l.Align == AlignCalendar, errZone)
	check(l.Anchor == 0 || l.Anchor >= 1 && l.Anchor <= 31 && l.Calendar == Month, errAnchor)
	check(l.Unit < ConcurrentRequests, errUnit)
	check(l.Unit == Requests || l.Algorithm != Concurrency, errNoUnit)
	check(!l.Durable || l.Algorithm.Windowed(), errDurable)
	return errors.Join(faults...)
}

// Counts is what the units of l are: its Unit, or ConcurrentRequests.
func (l *Limit) Counts() Unit {
	if l.Algorithm == Concurrency {
		return ConcurrentRequests
	}
	return l.Unit
}

// Capacity is the most units that can ever be admitted at one instant; a
// call that costs more never passes. It is 0 if the count is.
func (l *Limit) Capacity() int64 {
	switch {
	case l.Count == 0:
		return 0
	case l.Algorithm == TokenBucket && l.Burst > 0:
		return l.Burst
	case l.Algorithm == LeakyBucket:
		return l.Burst + 1
	}
	return l.Count
}

// Tag identifies the limit among those of one subject: a hash of its name,
// algorithm and period. Count and burst are left out, so that changing them
// keeps what was spent, and so is the TTL of a [Concurrency] limit, whose
// holders stay.
func (l *Limit) Tag() uint64 {
	period := l.Period
	if l.Algorithm == Concurrency {
		period = 0
	}
	var b [128]byte
	buf := append(b[:0], byte(l.Algorithm), byte(l.Calendar))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(period))
	buf = append(buf, l.Name...)
	return xxhash.Sum64(buf)
}
