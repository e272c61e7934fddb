package limiter

// state is what a counter remembers: what was spent and when. Each algorithm
// gives the three words its own meaning. The zero state is an unused counter
// in all of them.
type state struct{ a, b, c int64 }

// request is what a counter is asked.
type request struct {
	now   Instant // clamped
	limit *Limit
	cost  int64 // not negative
	held  int64 // units that open holds reserve
	// take charges the cost if the limit admits it; otherwise nothing is
	// charged.
	take bool
}

// charges reports whether the request changes a counter whose limit admits it.
func (q *request) charges() bool { return q.take && q.cost > 0 }

// units is what must fit for the request to be admitted: one of cost 0 asks
// whether one of cost 1 would be.
func (q *request) units() uint64 { return uint64(max(q.cost, 1)) }

// Bounds of the arithmetic. Whatever a caller hands in is first forced into
// them, so that no sum or product below can overflow: a clock within 2^62 ns
// of 1970 (the years 1823 to 2116), and periods that fit in between.
const (
	maxClock  = 1<<62 - 1
	minClock  = -maxClock
	maxPeriod = maxClock // a bucket's; shares of a limit are stretched beyond MaxPeriod
)

// clamp forces now into the bounds of the arithmetic.
func (now Instant) clamp() Instant {
	return Instant{
		Mono: min(max(now.Mono, minClock), maxClock),
		Wall: min(max(now.Wall, minClock), maxClock),
	}
}

// terms are the numbers of a limit, forced into the bounds of the
// arithmetic: a limit that was never validated gives odd answers, not
// overflows.
type terms struct {
	count    uint64 // units per period, at most MaxCount
	capacity uint64 // at most MaxCount + 1; 0 if count is 0
	period   uint64 // ns, at least 1
}

func (l *Limit) terms() terms {
	count := min(max(l.Count, 0), MaxCount)
	longest, capacity := int64(MaxPeriod), count // of the windows
	switch l.Algorithm {
	case TokenBucket:
		longest = maxPeriod
		if l.Burst > 0 {
			capacity = min(l.Burst, MaxCount)
		}
	case LeakyBucket:
		longest = maxPeriod
		capacity = min(max(l.Burst, 0), MaxCount) + 1
	case SlidingLog:
		count = min(count, MaxLogCount)
		capacity = count
	case Concurrency:
		count = min(count, MaxHolders)
		capacity = count
	default:
	}
	if count == 0 {
		capacity = 0
	}
	return terms{
		count:    uint64(count),
		capacity: uint64(capacity),
		period:   uint64(min(max(int64(l.Period), 1), longest)),
	}
}

// judge is the rule of every algorithm but the sliding log and concurrency,
// whose state is longer: it answers q in r for the counter s, and returns the counter's next
// state. That is s, unless q charges and is admitted. The answer describes
// the next state.
//
// The answer is filled in place because it is larger than the registers that
// return values travel in.
//
// It knows nothing of q.held: see [judgeBeside].
func judge(s state, q *request, r *Result) state {
	switch q.limit.Algorithm {
	case TokenBucket:
		return tokenBucket(s, q, r)
	case LeakyBucket:
		return leakyBucket(s, q, r)
	case SlidingWindow:
		return slidingWindow(s, q, r)
	default:
		return fixedWindow(s, q, r)
	}
}

// remaining is what capacity leaves beside used, never negative.
func remaining(capacity, used uint64) int64 {
	if used >= capacity {
		return 0
	}
	return int64(capacity - used)
}
