package limiter

// A visit locks one shard. It counts as minVisit slots at least, so that
// empty shards cost something too, and looks at maxVisit slots at most, so
// that the lock is held for microseconds.
const (
	minVisit = 16
	maxVisit = 1024
)

// reclaimBudget is what a call that finds the table full spends on looking
// for expired counters.
const reclaimBudget = 512

// Sweep drops counters that have expired at now, looking at about budget
// slots from where the last sweep stopped, and returns how many places of
// MaxKeys that freed, those of receipts and of leases that have lapsed included.
// It gives back the memory of shards that have become mostly empty, which
// holds such a shard's lock while its counters move.
//
// The owner of a table calls it regularly. It looks at no slot twice, so a
// large budget is a full sweep.
func (t *Table) Sweep(now Instant, budget int) (dropped int) {
	t.sweep.Lock()
	defer t.sweep.Unlock()
	return t.sweepLocked(now.clamp(), budget)
}

// reclaim looks for room in a full table, unless another call does.
func (t *Table) reclaim(now Instant) bool {
	if !t.sweep.TryLock() {
		return false
	}
	defer t.sweep.Unlock()
	return t.sweepLocked(now, reclaimBudget) > 0
}

func (t *Table) sweepLocked(now Instant, budget int) (dropped int) {
	// One more than all, as the first visit may begin amid a shard.
	for finished := 0; budget > 0 && finished <= len(t.shards); {
		from := t.sweep.slot
		n, next, done := t.shards[t.sweep.shard].sweep(&t.latest, now, from, min(budget, maxVisit))
		dropped += n
		budget -= max(next-from, minVisit)
		t.sweep.slot = next
		if done {
			t.sweep.slot = 0
			t.sweep.shard = (t.sweep.shard + 1) % len(t.shards)
			finished++
		}
	}
	return dropped
}

// sweep looks at n slots from the given one on. It returns how many counters
// or receipts it dropped, where to go on, and whether that is the end of the shard.
func (s *shard) sweep(m *mark, now Instant, from, n int) (dropped, next int, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = m.after(now, s.clock)
	next = min(from+n, s.slots.len())
	dropped = s.dropExpired(s.clock, from, next)
	if next < s.slots.len() {
		return dropped, next, false
	}
	s.sweepHolds(s.clock)
	dropped += s.sweepHolders(s.clock)
	dropped += s.sweepReceipts(s.clock)
	if s.slots.sparse() {
		dropped += s.rebuild(s.clock, 0)
	}
	if s.logs != nil && s.logs.sparse() {
		s.moveLogs()
	}
	return dropped, next, true
}
