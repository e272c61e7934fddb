package limiter

import (
	"slices"
	"time"
)

// holdsOn is the holds open on subject. Those that have lapsed go first.
func (s *shard) holdsOn(subject Subject, now Instant) []hold {
	if s.book == nil { // inlined, for nearly every call
		return nil
	}
	return s.dropLapsed(subject, now)
}

func (s *shard) dropLapsed(subject Subject, now Instant) []hold {
	open := s.book.open[subject]
	live := slices.DeleteFunc(open, func(h hold) bool {
		lapsed := h.lapses <= now.Mono
		if lapsed {
			s.release(&h)
		}
		return lapsed
	})
	if len(live) < len(open) {
		s.keepHolds(subject, live)
	}
	return live
}

// release gives back the room that a hold takes.
func (s *shard) release(h *hold) {
	s.budget.give(h.reserved)
	s.budget.holds.give(1)
}

// keepHolds leaves subject with the given holds.
func (s *shard) keepHolds(subject Subject, live []hold) {
	if len(live) == 0 {
		delete(s.book.open, subject)
	} else {
		s.book.open[subject] = live
	}
}

// hold reserves the cost of every limit if all admit the call.
func (s *shard) hold(now Instant, call *Call, results []Result) error {
	open := s.holdsOn(call.Subject, now)
	if s.book != nil && s.book.hasEnded(call.Hold) || indexOf(open, call.Hold) >= 0 {
		return &CallError{"hold", "its id was used before; make a new one of 128 random bits"}
	}
	if !s.peek(now, call, results) {
		s.beginCooldowns(now, call, results)
		return nil
	}
	h := holdOf(now, call)
	if len(h.units) == 0 {
		return nil
	}
	if len(open) >= maxSubjectHolds || !s.budget.holds.take(1) {
		return ErrFull
	}
	if !s.budget.take(h.reserved) {
		s.budget.holds.give(1)
		return ErrFull
	}
	if s.book == nil {
		s.book = newHoldBook()
	}
	s.book.open[call.Subject] = append(open, h)
	s.describe(now, call, results)
	return nil
}

// describe answers call, which has just been admitted, as its counters now
// are. What it was told to wait stays.
func (s *shard) describe(now Instant, call *Call, results []Result) {
	delays := [MaxCharges]time.Duration{}
	for i := range results {
		delays[i] = results[i].Delay
	}
	s.peek(now, call, results)
	for i := range results {
		results[i].admit(delays[i])
	}
}

// holdOf is the hold that call asks for.
func holdOf(now Instant, call *Call) hold {
	h := hold{id: call.Hold, lapses: now.Mono + int64(call.Lapse), units: make([]heldUnits, 0, len(call.Charges)), reserved: call.opens()}
	for i := range call.Charges {
		c := &call.Charges[i]
		if c.Cost == 0 {
			continue
		}
		h.units = append(h.units, heldUnits{c.Tag, c.Limit.Algorithm, c.units()})
		h.reserved++
		if c.Limit.Algorithm == SlidingLog {
			h.reserved++
		}
	}
	return h
}

// confirm charges what call held, whatever the limits say by now.
func (s *shard) confirm(now Instant, call *Call, results []Result) error {
	if s.book != nil && s.book.hasEnded(call.Hold) {
		s.peek(now, call, results)
		return nil
	}
	reserved := 0
	open := s.holdsOn(call.Subject, now)
	if at := indexOf(open, call.Hold); at >= 0 {
		reserved = open[at].reserved
	}
	s.peek(now, call, results) // trims the logs, which makeRoom asks for
	if err := s.makeRoom(now, call, reserved-call.opens()); err != nil {
		return err
	}
	s.endHold(now, call, 0)
	for i := range call.Charges {
		if c := &call.Charges[i]; c.counts() {
			s.force(now, call, c)
		}
		results[i].Delay = 0
	}
	s.describe(now, call, results)
	s.remember(now, call, results)
	return nil
}

// cancel ends the call's hold and answers as peek then would.
func (s *shard) cancel(now Instant, call *Call, results []Result) {
	open := s.holdsOn(call.Subject, now)
	if s.book == nil || !s.book.hasEnded(call.Hold) {
		room := 0
		if at := indexOf(open, call.Hold); at >= 0 {
			room = open[at].reserved
		}
		s.endHold(now, call, room)
	}
	s.peek(now, call, results)
}

// endHold removes the call's hold, if it is open, with what is still
// reserved for it, and remembers that it has ended.
func (s *shard) endHold(now Instant, call *Call, reserved int) {
	if s.book == nil {
		s.book = newHoldBook()
	}
	open := s.book.open[call.Subject]
	if at := indexOf(open, call.Hold); at >= 0 {
		open[at].reserved = reserved
		s.release(&open[at])
		s.keepHolds(call.Subject, slices.Delete(open, at, at+1))
	}
	s.book.forgetOld(now.Mono)
	s.book.end(call.Hold, now.Mono)
}

// force charges c, for which there is room, whatever its limit says.
func (s *shard) force(now Instant, call *Call, c *Charge) {
	i := s.find(call.Subject, c)
	if i < 0 {
		i = s.slots.insert(identify(call.Subject, c.Tag), c.Limit.Algorithm)
	}
	e := s.slots.at(i)
	q := request{now: now, limit: c.Limit, cost: c.Cost, take: true}
	if c.Limit.Algorithm == SlidingLog {
		s.push(e, &q)
	} else {
		e.state = charged(e.state, &q, c.Cost)
	}
}

// sweepHolds drops what has lapsed and what need not be remembered, and the
// book once it is empty.
func (s *shard) sweepHolds(now Instant) {
	if s.book == nil {
		return
	}
	for subject := range s.book.open {
		s.holdsOn(subject, now)
	}
	s.book.forgetOld(now.Mono)
	if s.book.empty() {
		s.book = nil
	}
}
