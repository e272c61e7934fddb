package limiter

import (
	"cmp"
	"maps"
	"slices"
)

// LeaseID names one holder of slots. Whoever acquires makes it of 128 random
// bits. The zero value names none.
type LeaseID struct{ Hi, Lo uint64 }

// holder is a lease that has a slot.
type holder struct {
	lease  LeaseID
	lapses int64 // Instant.Mono from which it counts no more
}

// holderBook is who has the slots of one shard. Most shards have nobody, and no
// book.
type holderBook struct {
	of   map[slotsID][]holder // no list is empty
	most int                  // lists that there were at once in this map
}

// slotsID names the slots of one concurrency limit.
type slotsID struct {
	subject Subject
	tag     uint64
}

func slotsOf(subject Subject, c *Charge) slotsID { return slotsID{subject, c.Tag} }

// withHolder puts h among holders, which are in the order in which they lapse.
func withHolder(holders []holder, h holder) []holder {
	at, _ := slices.BinarySearchFunc(holders, h.lapses, func(other holder, lapses int64) int {
		return cmp.Or(cmp.Compare(other.lapses, lapses), -1) // behind its equals
	})
	return slices.Insert(holders, at, h)
}

// holderOf is the place of a lease among holders, or -1.
func holderOf(holders []holder, id LeaseID) int {
	return slices.IndexFunc(holders, func(h holder) bool { return h.lease == id })
}

// holdersOf is who has the slots of c. Those that have lapsed go first.
func (s *shard) holdersOf(now Instant, subject Subject, c *Charge) []holder {
	if s.holders == nil {
		return nil
	}
	return s.dropLapsedHolders(now, slotsOf(subject, c))
}

func (s *shard) dropLapsedHolders(now Instant, id slotsID) []holder {
	holders, lapsed := s.holders.of[id], 0
	for lapsed < len(holders) && holders[lapsed].lapses <= now.Mono {
		lapsed++
	}
	if lapsed == 0 {
		return holders
	}
	s.budget.give(lapsed)
	return s.keepHolders(id, slices.Delete(holders, 0, lapsed))
}

// dropHolders frees all slots of c.
func (s *shard) dropHolders(subject Subject, c *Charge) {
	if s.holders == nil {
		return
	}
	id := slotsOf(subject, c)
	if holders := s.holders.of[id]; len(holders) > 0 {
		s.budget.give(len(holders))
		s.keepHolders(id, nil)
	}
}

// keepHolders leaves a limit with the given holders, in no more than some four
// times the memory that they need.
func (s *shard) keepHolders(id slotsID, holders []holder) []holder {
	const little = 16
	switch {
	case len(holders) == 0:
		if delete(s.holders.of, id); len(s.holders.of) == 0 {
			s.holders = nil
		}
		return nil
	case cap(holders) > little && len(holders) < cap(holders)/4:
		holders = append(make([]holder, 0, 2*len(holders)), holders...)
	}
	if s.holders == nil {
		s.holders = &holderBook{of: make(map[slotsID][]holder)}
	}
	s.holders.of[id] = holders
	s.holders.most = max(s.holders.most, len(s.holders.of))
	return holders
}

// sweepHolders drops slots that have lapsed and returns how many. Of many
// lists it looks at some: a map is ranged over from anywhere, so that all get
// their turn.
func (s *shard) sweepHolders(now Instant) (dropped int) {
	if s.holders == nil {
		return 0
	}
	visited := 0
	for id, holders := range s.holders.of {
		dropped += len(holders) - len(s.dropLapsedHolders(now, id))
		if visited++; visited == maxVisit {
			break
		}
	}
	if b := s.holders; b != nil && b.most > maxVisit && len(b.of) < b.most/4 {
		fresh := make(map[slotsID][]holder, len(b.of)) // a map keeps its room
		maps.Copy(fresh, b.of)
		s.holders = &holderBook{of: fresh, most: len(fresh)}
	}
	return dropped
}
