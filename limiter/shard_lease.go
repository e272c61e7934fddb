package limiter

import "slices"

// acquire charges every limit if all admit the call, and gives its lease a
// slot of each that has slots.
func (s *shard) acquire(now Instant, call *Call, results []Result) error {
	if s.hasSlots(now, call) > 0 {
		s.describe(now, call, results)
		return nil
	}
	if !s.peek(now, call, results) {
		s.beginCooldowns(now, call, results)
		return nil
	}
	if err := s.charge(now, call, results); err != nil {
		return err
	}
	for i := range call.Charges {
		if c := &call.Charges[i]; c.occupies() {
			s.occupyOne(now, call, c, &results[i])
		}
	}
	return nil
}

// occupy is confirm for a lease, with a slot of each limit that has slots. What
// was held has room for it, whatever the limit says by now.
func (s *shard) occupy(now Instant, call *Call, results []Result) error {
	held := indexOf(s.holdsOn(call.Subject, now), call.Hold) >= 0
	repeated := s.book != nil && s.book.hasEnded(call.Hold)
	if err := s.confirm(now, call, results); err != nil || repeated {
		return err
	}
	for i := range call.Charges {
		c, r := &call.Charges[i], &results[i]
		if !c.occupies() {
			continue
		}
		if s.askSlots(now, call, c, r); held || r.Allowed {
			s.occupyOne(now, call, c, r)
		} else {
			s.budget.give(1)
		}
	}
	return nil
}

// occupyOne gives the call's lease a slot of c, for which there is room, and
// answers as the admission that it is.
func (s *shard) occupyOne(now Instant, call *Call, c *Charge, r *Result) {
	s.seat(now, call, c, s.holdersOf(now, call.Subject, c))
	s.askSlots(now, call, c, r)
	r.admit(0)
}

// seat adds the call's lease to the holders of c.
func (s *shard) seat(now Instant, call *Call, c *Charge, holders []holder) {
	ttl := min(int64(call.TTL), int64(c.Limit.terms().period))
	s.keepHolders(slotsOf(call.Subject, c), withHolder(holders, holder{call.Lease, now.Mono + ttl}))
}

// askSlots answers c, which has slots.
func (s *shard) askSlots(now Instant, call *Call, c *Charge, r *Result) {
	q := request{now: now, limit: c.Limit, cost: c.Cost, held: heldBy(s.holdsOn(call.Subject, now), c)}
	concurrency(s.holdersOf(now, call.Subject, c), &q, r)
}

// hasSlots is in how many limits of the call its lease has a slot.
func (s *shard) hasSlots(now Instant, call *Call) (n int) {
	for i := range call.Charges {
		c := &call.Charges[i]
		if c.occupies() && holderOf(s.holdersOf(now, call.Subject, c), call.Lease) >= 0 {
			n++
		}
	}
	return n
}

// renew begins the TTL of the lease's slots anew if it has them all. It adds
// none, so it needs no room.
func (s *shard) renew(now Instant, call *Call, results []Result) {
	whole := s.hasSlots(now, call) == len(call.Charges)
	for i := range call.Charges {
		c, r := &call.Charges[i], &results[i]
		holders := s.holdersOf(now, call.Subject, c)
		at := holderOf(holders, call.Lease)
		if whole {
			s.seat(now, call, c, slices.Delete(holders, at, at+1))
		}
		s.askSlots(now, call, c, r)
		if r.admit(0); at < 0 {
			r.Allowed, r.RetryAfter = false, Never
		}
	}
}

// leave frees the slots of the lease and answers as peek then would.
func (s *shard) leave(now Instant, call *Call, results []Result) {
	for i := range call.Charges {
		c := &call.Charges[i]
		holders := s.holdersOf(now, call.Subject, c)
		if at := holderOf(holders, call.Lease); at >= 0 {
			s.budget.give(1)
			s.keepHolders(slotsOf(call.Subject, c), slices.Delete(holders, at, at+1))
		}
	}
	s.peek(now, call, results)
}
