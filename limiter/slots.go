package limiter

import "math/bits"

// identity names a counter: 128 bits of a subject's keyed fingerprint, with
// the limit's tag folded in. Whoever does not know the key cannot make one
// that meets another's.
type identity struct{ hi, lo uint64 }

func identify(s Subject, tag uint64) identity { return identity{s.Hi ^ tag, s.Lo} }

// hash spreads any identity, also that of a test which counts upwards. It
// multiplies the halves to 128 bits and folds them.
func (id identity) hash() uint64 {
	hi, lo := bits.Mul64(id.hi^0x9e3779b97f4a7c15, id.lo^0xd1b54a32d192ed03)
	return hi ^ lo
}

// slot is one counter, or the cool-down of one: 48 bytes without a pointer.
type slot struct {
	id        identity
	state     state
	expires   tick
	algorithm Algorithm // with coolingDown for a cool-down
}

// unused reports whether the counter's state is that of an unused one.
func (e *slot) unused() bool {
	switch e.algorithm {
	case SlidingWindow:
		return e.state.b|e.state.c == 0
	case SlidingLog, FixedWindow, Quota:
		return e.state.a == 0
	default:
		return e.state.a|e.state.b == 0
	}
}

// keep notes how long the counter must be kept, now that its limit has given
// answer r. A charge settles that. Any other call can only put it off, as
// when its limit's count was lowered, so that debts take longer to drain; but
// not for a count of 0, with which they never would.
func (e *slot) keep(q *request, r *Result) {
	switch expires := expiry(q.now.Mono, r.ResetAfter); {
	case q.charges() && r.Allowed:
		e.expires = expires
	case r.ResetAfter > 0 && q.limit.Count > 0:
		e.expires = max(e.expires, expires)
	}
}

// slots is an open-addressing hash table in the manner of the Swiss tables:
// a control byte for each slot says whether it is empty, deleted, or full
// with seven bits of its hash, and a search compares the eight control bytes
// of a group at once. Groups are probed one after another, from the one that
// the hash points to until one has an empty slot. The number of groups is
// any number, so that the table can grow in small steps.
//
// The zero value is an empty table without room.
type slots struct {
	control []uint64 // one word for each group
	entries []slot   // groupSize for each group
	live    int      // full slots
	filled  int      // full and deleted slots
}

const (
	groupSize = 8

	controlEmpty   = 0
	controlDeleted = 1
	controlFull    = 0x80 // or'ed with 7 bits of the hash

	everyByte = 0x0101010101010101
	everyHigh = 0x8080808080808080
)

// Load of a table in eighths and sevenths: it is rebuilt when 7/8 of the
// slots are filled, to a size at which 7/10 are. So it grows by a quarter,
// and 49 bytes for each slot are 56 to 70 for each key, before the allocator
// rounds up.
const (
	maxFilledPerGroup = groupSize * 7 / 8
	roomNumerator     = 10
	roomDenominator   = 7
)

// tagOf is the control byte of a full slot. Its bits are neither those that
// choose the shard (the lowest) nor those that choose the group (the
// highest).
func tagOf(hash uint64) uint64 { return controlFull | hash>>20&0x7f }

// home is the group where the search for a hash begins.
func (s *slots) home(hash uint64) int {
	hi, _ := bits.Mul64(hash, uint64(len(s.control)))
	return int(hi)
}

// len is the number of slots, full or not.
func (s *slots) len() int { return len(s.entries) }

// at is the slot with the given index. It moves when the table is rebuilt.
func (s *slots) at(i int) *slot { return &s.entries[i] }

// find returns the index of a counter, or -1.
func (s *slots) find(id identity, a Algorithm) int {
	if len(s.control) == 0 {
		return -1
	}
	hash := id.hash()
	pattern := tagOf(hash) * everyByte
	for g := s.home(hash); ; {
		word := s.control[g]
		// A byte is 0 where the tag matches; borrowing can make its upper
		// neighbour look alike, which the comparison sorts out.
		differ := word ^ pattern
		for match := (differ - everyByte) &^ differ & everyHigh; match != 0; match &= match - 1 {
			i := g*groupSize + bits.TrailingZeros64(match)/8
			if e := &s.entries[i]; e.id == id && e.algorithm == a {
				return i
			}
		}
		if hasEmpty(word) {
			return -1
		}
		if g++; g == len(s.control) {
			g = 0
		}
	}
}

func hasEmpty(word uint64) bool { return (word-everyByte)&^word&everyHigh != 0 }

// room reports whether n more counters fit as the table is.
func (s *slots) room(n int) bool { return s.filled+n <= len(s.control)*maxFilledPerGroup }

// insert adds a counter that is not there, and for which there is room, and
// returns its index.
func (s *slots) insert(id identity, a Algorithm) int {
	hash := id.hash()
	g := s.home(hash)
	for s.control[g]&everyHigh == everyHigh {
		if g++; g == len(s.control) {
			g = 0
		}
	}
	place := bits.TrailingZeros64(^s.control[g]&everyHigh) / 8
	i := g*groupSize + place
	if s.controlAt(i) == controlEmpty {
		s.filled++
	}
	s.live++
	s.setControl(i, tagOf(hash))
	s.entries[i] = slot{id: id, algorithm: a}
	return i
}

// remove deletes the counter at i. Its slot becomes empty only where no
// search has ever passed by: in a group that never was full.
func (s *slots) remove(i int) {
	s.live--
	if hasEmpty(s.control[i/groupSize]) {
		s.setControl(i, controlEmpty)
		s.filled--
	} else {
		s.setControl(i, controlDeleted)
	}
}

// full reports whether there is a counter at i.
func (s *slots) full(i int) bool { return s.controlAt(i) >= controlFull }

func (s *slots) controlAt(i int) uint64 {
	return s.control[i/groupSize] >> (i % groupSize * 8) & 0xff
}

func (s *slots) setControl(i int, b uint64) {
	shift := i % groupSize * 8
	word := &s.control[i/groupSize]
	*word = *word&^(0xff<<shift) | b<<shift
}

// rebuilt is a table with the same counters, in no more memory than they and
// n more need.
func (s *slots) rebuilt(n int) slots {
	if s.live+n == 0 {
		return slots{}
	}
	groups := ((s.live+n)*roomNumerator/roomDenominator + groupSize) / groupSize
	fresh := slots{control: make([]uint64, groups), entries: make([]slot, groups*groupSize)}
	for i := range s.entries {
		if s.full(i) {
			old := &s.entries[i]
			fresh.entries[fresh.insert(old.id, old.algorithm)] = *old
		}
	}
	return fresh
}

// sparse reports whether most of the memory is unused. The bound is far
// below the load of a rebuilt table, so that the two do not alternate.
func (s *slots) sparse() bool {
	return len(s.control) > 1 && s.live < s.len()/3
}
