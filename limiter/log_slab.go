package limiter

import (
	"math"
	"time"
)

// A sliding log is longer than a slot, so its entries live in blocks of a
// slab beside the slots. A block fills one cache line.
const blockEntries = 6

// logBlock holds entries of one log, and the next newer block of that log or
// the next free block.
type logBlock struct {
	at    [blockEntries]int64  // Instant.Mono of the charge
	units [blockEntries]uint16 // MaxLogCount fits
	next  handle
}

// handle names a block of a slab. 0 names none.
type handle uint32

// logSlab is the blocks of all logs of one shard. It holds no pointers, so
// the garbage collector never walks it.
type logSlab struct {
	blocks []logBlock
	free   handle // head of the list of free blocks
	unused int    // free blocks
}

// callLog is the state of one sliding log: a chain of blocks from the oldest
// entry to the newest. The zero value is empty.
type callLog struct {
	units         int64  // sum over the entries
	oldest        handle // block of the oldest entry
	newest        handle // block of the newest entry
	first, behind uint8  // place of the oldest entry, and of the one to come
}

func loadLog(s state) callLog {
	return callLog{
		units:  s.a,
		oldest: handle(uint64(s.b) >> 32),
		newest: handle(uint32(s.b)),
		first:  uint8(s.c >> 8),
		behind: uint8(s.c),
	}
}

func (g callLog) state() state {
	return state{
		a: g.units,
		b: int64(uint64(g.oldest)<<32 | uint64(g.newest)),
		c: int64(g.first)<<8 | int64(g.behind),
	}
}

// needsBlock reports whether pushing an entry onto g takes a block.
func (s *logSlab) needsBlock(g callLog, at int64) bool {
	return g.newest == 0 || g.behind == blockEntries && s.newestAt(g) != at
}

// newestAt is the time of the newest entry of g, which is not empty.
func (s *logSlab) newestAt(g callLog) int64 { return s.block(g.newest).at[g.behind-1] }

func (s *logSlab) block(h handle) *logBlock { return &s.blocks[h-1] }

// take returns a block that belongs to no log.
func (s *logSlab) take() handle {
	if h := s.free; h != 0 {
		s.free = s.block(h).next
		s.unused--
		return h
	}
	s.blocks = append(s.blocks, logBlock{})
	return handle(len(s.blocks))
}

// give frees a block.
func (s *logSlab) give(h handle) {
	s.block(h).next = s.free
	s.free = h
	s.unused++
}

// push appends an entry. Charges at one instant share it; what does not fit
// it is more than any log's count, and makes no difference.
func (s *logSlab) push(g callLog, at, units int64) callLog {
	if g.newest != 0 && s.newestAt(g) == at {
		entry := &s.block(g.newest).units[g.behind-1]
		units = min(units, math.MaxUint16-int64(*entry))
		*entry += uint16(units)
		g.units += units
		return g
	}
	units = min(units, math.MaxUint16)
	g.units += units
	if s.needsBlock(g, at) {
		h := s.take()
		s.block(h).next = 0
		if g.newest == 0 {
			g.oldest, g.first = h, 0
		} else {
			s.block(g.newest).next = h
		}
		g.newest, g.behind = h, 0
	}
	b := s.block(g.newest)
	b.at[g.behind], b.units[g.behind] = at, uint16(units)
	g.behind++
	return g
}

// trim drops the entries at or before the given time, and returns how many
// blocks that freed.
func (s *logSlab) trim(g callLog, upTo int64) (trimmed callLog, freed int) {
	for g.oldest != 0 {
		b := s.block(g.oldest)
		last := g.lastIn(g.oldest)
		for g.first < last && b.at[g.first] <= upTo {
			g.units -= int64(b.units[g.first])
			g.first++
		}
		if g.first < last {
			break
		}
		next := b.next
		s.give(g.oldest)
		freed++
		g.oldest, g.first = next, 0
	}
	if g.oldest == 0 {
		return callLog{}, freed
	}
	return g, freed
}

// less takes units out of the entry of the given time, if it is still there,
// and returns how many blocks that freed. No entry is left empty, so that a
// log is as long as what it counts.
func (s *logSlab) less(g callLog, units, at int64) (left callLog, freed int) {
	for h, i := g.oldest, g.first; h != 0; h, i = s.block(h).next, 0 {
		b := s.block(h)
		for ; i < g.lastIn(h); i++ {
			if b.at[i] != at {
				continue
			}
			units = min(units, int64(b.units[i]))
			b.units[i] -= uint16(units)
			g.units -= units
			if b.units[i] > 0 {
				return g, 0
			}
			used := len(s.blocks) - s.unused
			left = s.move(g, s)
			s.drop(g)
			return left, used - (len(s.blocks) - s.unused)
		}
	}
	return g, 0
}

// lastIn is the place behind the last entry of one of g's blocks.
func (g callLog) lastIn(h handle) uint8 {
	if h == g.newest {
		return g.behind
	}
	return blockEntries
}

// drop frees the whole log and returns how many blocks that were.
func (s *logSlab) drop(g callLog) (freed int) {
	for h := g.oldest; h != 0; freed++ {
		next := s.block(h).next
		s.give(h)
		h = next
	}
	return freed
}

// leaveAt is the time of the entry with which at least the given number of
// units, of those in the log, have been reached, counted from the oldest.
func (s *logSlab) leaveAt(g callLog, units int64) int64 {
	for h, i := g.oldest, g.first; ; h, i = s.block(h).next, 0 {
		b := s.block(h)
		for ; i < g.lastIn(h); i++ {
			if units -= int64(b.units[i]); units <= 0 || h == g.newest && i == g.behind-1 {
				return b.at[i]
			}
		}
	}
}

// sparse reports whether moving the logs to a fresh slab would give back
// most of this one.
func (s *logSlab) sparse() bool { return len(s.blocks) > 64 && s.unused > len(s.blocks)/4*3 }

// move copies the entries of a log that are not empty, in another slab or in
// this one.
func (s *logSlab) move(g callLog, to *logSlab) callLog {
	moved := callLog{}
	for h, i := g.oldest, g.first; h != 0; h, i = s.block(h).next, 0 {
		b := s.block(h)
		for ; i < g.lastIn(h); i++ {
			if b.units[i] > 0 {
				moved = to.push(moved, b.at[i], int64(b.units[i]))
			}
		}
	}
	return moved
}

// waitFor is the time from now until the given number of units have left.
// Those that are not in the log are held: they would leave it last.
func (s *logSlab) waitFor(g callLog, units, now int64, t terms) time.Duration {
	if units > g.units {
		return time.Duration(t.period)
	}
	return time.Duration(s.leaveAt(g, units) + int64(t.period) - now)
}
