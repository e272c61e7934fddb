package limiter

import "sync"

// DefaultMaxKeys is the MaxKeys of a table that does not say.
const DefaultMaxKeys = 10_000_000

// TableOptions configure a [Table]. The zero value is usable.
type TableOptions struct {
	// MaxKeys is a hard bound on live counters. A counter is one limit of
	// one subject; its cool-down, while there is one, and each six calls that
	// a sliding log keeps count as one more, and so does a receipt while it is
	// open, for each limit, and for an hour after it was settled. A concurrency
	// limit counts as one for each of its holders. 0 is DefaultMaxKeys, less
	// than 1 is 1.
	//
	// From some hundred thousand on, a counter takes 60 to 75 bytes, and a log
	// 64 to 128 more for each six calls.
	MaxKeys int
}

// Table holds the counters of one node. It is safe for concurrent use and
// starts no goroutine: its owner calls [Table.Sweep] now and then.
type Table struct {
	shards []shard
	latest mark
	_      [112]byte // the mark is read by every call, so nothing hot may share its cache lines
	budget budgets
	sweep  struct {
		sync.Mutex
		shard, slot int // where the next sweep goes on
	}
}

// NewTable returns an empty table.
func NewTable(o TableOptions) *Table {
	most := max(o.MaxKeys, 1)
	if o.MaxKeys == 0 {
		most = DefaultMaxKeys
	}
	t := &Table{shards: make([]shard, shardsFor(most))}
	t.budget.most = int64(most)
	t.budget.holds.most = maxHolds
	t.latest.init()
	for i := range t.shards {
		t.shards[i].clock = Instant{Mono: minClock, Wall: minClock}
		t.shards[i].budget = &t.budget
	}
	return t
}

// shardsFor is a power of two: 1,024, where two processors rarely meet, but
// fewer for a small table, and more for a huge one, so that growing a shard
// stays a matter of some hundred microseconds.
func shardsFor(keys int) int {
	n := 1
	for n < 1<<10 && n*64 < keys || n < 1<<16 && n*10_000 < keys {
		n *= 2
	}
	return n
}

// Do decides call at now and fills results, one for each charge in order.
// All charges are decided in one step: if any limit denies, none is charged,
// and every result describes its counter as it is.
//
// A table's clock never runs back: a call counts at the latest time that any
// call on its subject gave, and at most 1 ms before the latest that any
// earlier call on another subject gave. Readings beyond 2^62 ns from 1970
// (the years 1823 to 2116) count as that bound.
//
// Do does not validate limits. One that [Limit.Validate] would refuse is
// forced into range, number by number: the answer is then of little use, but
// no counter is harmed.
//
// A Hold reserves instead, until its Confirm or Cancel comes, or its Lapse has
// passed since now. Neither can happen to a hold twice, nor one after the
// other: repeating them answers as a peek would, for at least two seconds or
// the next 4,096 holds of a shard.
//
// A limit with a Cooldown that denies a Take, an Acquire or a Hold denies
// everything on the subject for that long: its Remaining is 0, and its waits
// are at least what is left. Attempts meanwhile make no difference without
// Extend: they also begin no cool-down of the call's other limits. None begins
// by a denial that is Contended, of a cost that the limit can never hold, of
// cost 0, or of who is Patient; nor by a peek, which sees it. A Reset ends it.
// The duration counts that a call gives, so one that was changed takes effect
// at once, but a cool-down that was over stays over. In a full table the
// denial stands and begins none.
//
// A lease has its slots until its Release comes, or its TTL has passed since
// its Acquire or its last Renew. Cool-downs keep others out; its slots stay
// its own.
//
// Errors: a [*CallError] says what is wrong with the call; [ErrFull] is for
// a call that needs a new counter, or a place for its receipt, while MaxKeys
// are live, or a hold while 65,536 are open in the table or 1,024 on its
// subject. With either, nothing was charged and results are void.
func (t *Table) Do(now Instant, call *Call, results []Result) error {
	if err := call.check(len(results)); err != nil {
		return err
	}
	now = now.clamp()
	err := t.do(now, call, results)
	if err != nil && t.reclaim(now) {
		err = t.do(now, call, results)
	}
	return err
}

func (t *Table) do(now Instant, call *Call, results []Result) error {
	s := t.shardOf(call.Subject)
	s.mu.Lock()
	defer s.mu.Unlock()
	now = t.latest.after(now, s.clock)
	s.clock = now
	switch call.Op {
	case Take:
		return s.take(now, call, results)
	case Reset:
		s.reset(now, call, results)
	case Hold:
		return s.hold(now, call, results)
	case Confirm:
		return s.confirm(now, call, results)
	case Cancel:
		s.cancel(now, call, results)
	case Acquire:
		return s.acquire(now, call, results)
	case Renew:
		s.renew(now, call, results)
	case Release:
		s.leave(now, call, results)
	case Occupy:
		return s.occupy(now, call, results)
	case Settle:
		return s.settle(now, call, results)
	default:
		s.peek(now, call, results)
	}
	return nil
}

// shardOf holds all counters of a subject.
func (t *Table) shardOf(s Subject) *shard {
	return &t.shards[identify(s, 0).hash()&uint64(len(t.shards)-1)]
}

// Len is the number of live counters and cool-downs, those included that have
// expired and are not swept yet, the blocks of sliding logs and the slots of
// leases (see MaxKeys), what open holds may come to need, and the places of
// receipts.
func (t *Table) Len() int { return int(t.budget.used.Load()) }
