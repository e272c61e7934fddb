package limiter

import "time"

func (c *Charge) counterOf(subject Subject) counterID {
	return counterID{identify(subject, c.Tag), c.Limit.Algorithm}
}

// opens is how many open charges the call leaves once it has been charged. A
// slot is none: it is released, and not settled.
func (c *Call) opens() (n int) {
	if c.Receipt == (ReceiptID{}) {
		return 0
	}
	for i := range c.Charges {
		if c.Charges[i].counts() {
			n++
		}
	}
	return n
}

// remember keeps what the call, which has just been charged, may be given
// back. Its places are taken already.
func (s *shard) remember(now Instant, call *Call, results []Result) {
	if call.opens() == 0 {
		return
	}
	if s.receipts == nil {
		s.receipts = newReceiptBook()
	}
	for i := range call.Charges {
		c := &call.Charges[i]
		if !c.counts() {
			continue
		}
		o := openCharge{id: call.Receipt, until: now.Mono + openFor(results[i].ResetAfter), cost: c.Cost}
		if c.Limit.Algorithm == SlidingLog {
			o.then.a = now.Mono
		} else {
			o.then = s.slots.at(s.find(call.Subject, c)).state
		}
		s.budget.give(s.receipts.add(c.counterOf(call.Subject), o, now.Mono))
	}
}

// openFor is how long, in ns, something of a charge may be given back whose
// counter is as if unused in rest: until then, and with the margin that
// [expiry] has. After the receipt's life nobody asks.
func openFor(rest time.Duration) int64 {
	rest = min(rest, ReceiptLife)
	return int64(rest + rest>>9 + time.Second)
}

// settle charges the call's costs in place of what was charged before, once.
func (s *shard) settle(now Instant, call *Call, results []Result) error {
	id := call.Receipt.about(call.Subject)
	s.peek(now, call, results) // trims the logs, which makeRoom asks for
	if s.receipts != nil && s.receipts.isSettled(id) {
		admitAll(results)
		return nil
	}
	if s.receipts == nil {
		s.receipts = newReceiptBook()
	}
	open := s.openBy(call)
	if err := s.makeRoomToSettle(now, call, &open); err != nil {
		return err
	}
	s.receipts.settle(id, now.Mono)
	for i := range call.Charges {
		c, at := call.Charges[i], open[i]
		if c.Cost -= call.Charged; c.Cost > 0 {
			s.force(now, call, &c)
		} else if c.Cost < 0 && at >= 0 {
			s.giveBack(now, call, &c, at)
		}
		if at >= 0 {
			s.receipts.drop(c.counterOf(call.Subject), at)
		}
	}
	s.peek(now, call, results)
	admitAll(results)
	return nil
}

// openBy is the places of the receipt's open charges, each in the list of its
// counter, -1 where there is none.
func (s *shard) openBy(call *Call) (at [MaxCharges]int) {
	for i := range call.Charges {
		at[i] = s.receipts.indexOf(call.Charges[i].counterOf(call.Subject), call.Receipt)
	}
	return at
}

// makeRoomToSettle takes a place for the settled id, and what charging more
// needs. The places of the open charges serve for that.
func (s *shard) makeRoomToSettle(now Instant, call *Call, open *[MaxCharges]int) error {
	places, more := 1, false
	for i := range call.Charges {
		more = more || call.Charges[i].Cost > call.Charged
		if open[i] >= 0 {
			places--
		}
	}
	if more {
		return s.makeRoom(now, call, -places)
	}
	if !s.budget.take(places) {
		return ErrFull
	}
	return nil
}

// admitAll makes results, which describe counters, the answer to a call that
// nobody can deny.
func admitAll(results []Result) {
	for i := range results {
		results[i].admit(0)
	}
}

// giveBack takes -c.Cost units out of their counter, as far as they are still
// there. at is the place of the open charge.
func (s *shard) giveBack(now Instant, call *Call, c *Charge, at int) {
	i := s.find(call.Subject, c)
	if i < 0 {
		return // it is as if unused
	}
	e, list := s.slots.at(i), s.receipts.open[c.counterOf(call.Subject)]
	o, t := &list[at], c.Limit.terms()
	units := min(-c.Cost, o.cost)
	switch e.algorithm {
	case TokenBucket, LeakyBucket:
		debt := product(uint64(units), t.period).atMost(bucketOf(o.then).debtAt(now.Mono, t))
		e.state = bucketOf(e.state).less(debt, now.Mono, t).state()
		for j := at + 1; j < len(list); j++ {
			list[j].then = bucketOf(list[j].then).less(debt, now.Mono, t).state()
		}
	case SlidingWindow:
		w := sliding{e.state.a, e.state.b, e.state.c}.at(epochStart(now.Wall, int64(t.period)), int64(t.period))
		w = w.less(units, o.then.a, int64(t.period))
		e.state = state{w.start, w.current, w.previous}
	case SlidingLog:
		log, freed := s.logs.less(loadLog(e.state), units, o.then.a)
		e.state = log.state()
		s.budget.give(freed)
	default:
		if o.then.b == e.state.b && now.Wall < e.state.b {
			e.state.a -= min(units, e.state.a)
		}
	}
	if e.unused() {
		s.remove(i)
	}
}

// forget drops the open charges of a counter that is reset: there is nothing
// left to give back.
func (s *shard) forget(counter counterID) {
	if s.receipts == nil {
		return
	}
	s.budget.give(len(s.receipts.open[counter]))
	delete(s.receipts.open, counter)
}

// sweepReceipts drops what cannot be settled any more, and the book once it
// is empty. It returns how many places that freed.
func (s *shard) sweepReceipts(now Instant) (freed int) {
	if s.receipts == nil {
		return 0
	}
	freed = s.receipts.sweep(now.Mono)
	s.budget.give(freed)
	if s.receipts.empty() {
		s.receipts = nil
	}
	return freed
}
