package limiter

import (
	"sync"
	"unsafe"
)

// shard is one independent part of a table. All counters of a subject are in
// one shard, so that one lock covers a call.
type shard struct {
	// Neighbours in memory must not share cache lines, which processors
	// fetch in pairs. At the end this would take room even where it has no bytes.
	_ [(128 - unsafe.Sizeof(shardFields{})%128) % 128]byte
	shardFields
}

// shardFields are guarded by mu.
type shardFields struct {
	mu     sync.Mutex
	clock  Instant // latest that any call on this shard has brought
	slots  slots
	logs   *logSlab // nil until the first log
	budget *budgets // of the table

	book     *holdBook    // nil while there are no holds
	receipts *receiptBook // nil while there are none
	holders  *holderBook  // nil while nobody has a slot
}

// peek answers every charge as the counters are, and reports whether all
// admit.
func (s *shard) peek(now Instant, call *Call, results []Result) bool {
	admitted := true
	open := s.holdsOn(call.Subject, now)
	for i := range call.Charges {
		c := &call.Charges[i]
		q := request{now: now, limit: c.Limit, cost: c.Cost, held: heldBy(open, c)}
		if c.Limit.Algorithm == Concurrency {
			concurrency(s.holdersOf(now, call.Subject, c), &q, &results[i])
		} else {
			s.ask(s.find(call.Subject, c), &q, &results[i])
		}
		if c.Cooldown > 0 {
			s.coolDown(now, call.Subject, c, &results[i])
		}
		admitted = admitted && results[i].Allowed
	}
	return admitted
}

// take charges every limit if all admit the call.
func (s *shard) take(now Instant, call *Call, results []Result) error {
	if len(call.Charges) == 1 && call.Charges[0].plain() && call.Receipt == (ReceiptID{}) &&
		(s.book == nil || len(s.holdsOn(call.Subject, now)) == 0) {
		return s.takeOne(now, call, &results[0])
	}
	if !s.peek(now, call, results) {
		s.beginCooldowns(now, call, results)
		return nil
	}
	return s.charge(now, call, results)
}

// charge charges every limit of a call that all admit.
func (s *shard) charge(now Instant, call *Call, results []Result) error {
	if err := s.makeRoom(now, call, -call.opens()); err != nil {
		return err
	}
	open := s.holdsOn(call.Subject, now)
	for i := range call.Charges {
		if c := &call.Charges[i]; c.counts() {
			q := request{now: now, limit: c.Limit, cost: c.Cost, held: heldBy(open, c), take: true}
			s.chargeOne(call.Subject, c, &q, &results[i])
		}
	}
	s.remember(now, call, results)
	return nil
}

// plain reports whether all that is kept of c is the state of its counter.
func (c *Charge) plain() bool {
	a := c.Limit.Algorithm
	return a != SlidingLog && a != Concurrency && c.Cooldown == 0
}

// takeOne is take for the usual call of one plain limit, without a receipt and
// beside no holds: it judges once.
func (s *shard) takeOne(now Instant, call *Call, r *Result) error {
	c := &call.Charges[0]
	q := request{now: now, limit: c.Limit, cost: c.Cost, take: true}
	i := s.find(call.Subject, c)
	if i >= 0 {
		e := s.slots.at(i)
		e.state = judge(e.state, &q, r)
		e.keep(&q, r)
		return nil
	}
	next := judge(state{}, &q, r)
	if !r.Allowed || c.Cost == 0 {
		return nil
	}
	if !s.makeRoomForOne(now) {
		return ErrFull
	}
	e := s.slots.at(s.slots.insert(identify(call.Subject, c.Tag), c.Limit.Algorithm))
	e.state = next
	e.keep(&q, r)
	return nil
}

// makeRoomForOne takes the room for one more slot, if there is any.
func (s *shard) makeRoomForOne(now Instant) bool {
	if !s.slots.room(1) {
		s.rebuild(now, 1)
	}
	return s.budget.take(1)
}

// reset makes the counters as if unused and answers as peek then would.
func (s *shard) reset(now Instant, call *Call, results []Result) {
	for i := range call.Charges {
		c := &call.Charges[i]
		if at := s.find(call.Subject, c); at >= 0 {
			s.remove(at)
		}
		if at := s.findCooldown(call.Subject, c); at >= 0 {
			s.remove(at)
		}
		s.dropHolders(call.Subject, c)
		s.forget(c.counterOf(call.Subject))
	}
	s.peek(now, call, results)
}

func (s *shard) find(subject Subject, c *Charge) int {
	return s.slots.find(identify(subject, c.Tag), c.Limit.Algorithm)
}

// ask answers q, which does not take, as the counter at i is beside what is
// held. -1 is an unused counter.
func (s *shard) ask(i int, q *request, r *Result) {
	isLog := q.limit.Algorithm == SlidingLog
	switch {
	case i < 0 && isLog:
		s.logs.slidingLog(callLog{}, q, r)
	case i < 0:
		judgeBeside(state{}, q, r)
	case isLog:
		e := s.slots.at(i)
		s.logs.slidingLog(s.trimmed(e, q), q, r)
		e.keep(q, r)
	default:
		e := s.slots.at(i)
		judgeBeside(e.state, q, r)
		e.keep(q, r)
	}
}

// makeRoom takes what charging the call needs beyond what is reserved for it,
// or returns ErrFull. Of a reservation it gives back what is not needed. A
// negative reservation is what the call needs besides.
func (s *shard) makeRoom(now Instant, call *Call, reserved int) error {
	counters, others := s.needs(call)
	if counters > 0 && !s.slots.room(counters) {
		// This may drop counters of the call that had expired.
		s.rebuild(now, len(call.Charges))
		counters, others = s.needs(call)
	}
	if !s.budget.take(counters + others - reserved) {
		return ErrFull
	}
	return nil
}

// needs is the counters, and the log blocks and slots of leases, that charging
// the call adds. Its logs must be trimmed.
func (s *shard) needs(call *Call) (counters, others int) {
	for i := range call.Charges {
		c := &call.Charges[i]
		if call.Op.occupies() && c.occupies() {
			others++
		}
		if !c.counts() {
			continue
		}
		log := callLog{}
		if at := s.find(call.Subject, c); at < 0 {
			counters++
		} else if c.Limit.Algorithm == SlidingLog {
			log = loadLog(s.slots.at(at).state)
		}
		if c.Limit.Algorithm == SlidingLog && s.logs.needsBlock(log, s.clock.Mono) {
			others++
		}
	}
	return counters, others
}

// chargeOne charges c by q, which its limit admits and for which makeRoom has
// made room.
func (s *shard) chargeOne(subject Subject, c *Charge, q *request, r *Result) {
	i := s.find(subject, c)
	if i < 0 {
		i = s.slots.insert(identify(subject, c.Tag), c.Limit.Algorithm)
	}
	e := s.slots.at(i)
	if c.Limit.Algorithm == SlidingLog {
		log := s.push(e, q)
		s.logs.slidingLog(log, q, r)
		r.admit(0) // the call is in the log already
	} else {
		e.state = judgeBeside(e.state, q, r)
	}
	e.keep(q, r)
}

// push appends q's units to the log at e.
func (s *shard) push(e *slot, q *request) callLog {
	if s.logs == nil {
		s.logs = new(logSlab)
	}
	log := s.logs.push(loadLog(e.state), q.now.Mono, q.cost)
	e.state = log.state()
	return log
}

// trimmed is the log at e without what has left it, which it frees.
func (s *shard) trimmed(e *slot, q *request) callLog {
	log, freed := s.logs.trim(loadLog(e.state), q.now.Mono-int64(q.limit.terms().period))
	e.state = log.state()
	s.budget.give(freed)
	return log
}

// remove deletes the counter at i.
func (s *shard) remove(i int) {
	freed := 1
	if e := s.slots.at(i); e.algorithm == SlidingLog {
		freed += s.logs.drop(loadLog(e.state))
	}
	s.slots.remove(i)
	s.budget.give(freed)
}

// dropExpired removes the counters in slots [from, to) that have expired.
func (s *shard) dropExpired(now Instant, from, to int) (dropped int) {
	for i := from; i < to; i++ {
		if s.slots.full(i) && s.slots.at(i).expires.over(now.Mono) {
			s.remove(i)
			dropped++
		}
	}
	return dropped
}

// rebuild moves the live counters to memory that has room for n more, and
// drops the expired ones.
func (s *shard) rebuild(now Instant, n int) (dropped int) {
	dropped = s.dropExpired(now, 0, s.slots.len())
	s.slots = s.slots.rebuilt(n)
	return dropped
}

// moveLogs copies the logs to a slab of just their size.
func (s *shard) moveLogs() {
	fresh := new(logSlab)
	for i := range s.slots.len() {
		if e := s.slots.at(i); s.slots.full(i) && e.algorithm == SlidingLog {
			e.state = s.logs.move(loadLog(e.state), fresh).state()
		}
	}
	s.logs = fresh
}
