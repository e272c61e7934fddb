package limiter

import "time"

// CounterID names one counter of a table to those who keep it elsewhere.
type CounterID struct {
	Subject   Subject
	Tag       uint64 // of the limit
	Algorithm Algorithm
}

// Window is what a windowed counter (see [Algorithm.Windowed]) has counted.
type Window struct {
	// Used is the units charged in the window. 0: it is unused.
	Used int64
	// End is when the window ends, in Unix ns of Instant.Wall.
	End int64
}

// ID names the counter that c charges for subject.
func (c *Charge) ID(subject Subject) CounterID {
	return CounterID{Subject: subject, Tag: c.Tag, Algorithm: c.Limit.Algorithm}
}

// Window reads a counter. What a call has charged that has returned is in it,
// unless it was reset or given back since.
func (t *Table) Window(id CounterID) Window {
	s := t.shardOf(id.Subject)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.slots.find(identify(id.Subject, id.Tag), id.Algorithm)
	if at < 0 || !id.Algorithm.Windowed() {
		return Window{}
	}
	e := s.slots.at(at)
	return Window{Used: e.state.a, End: e.state.b}
}

// Restore makes w what a windowed counter has counted, if it has not counted
// more in that window already. It is for a table that is not in use yet: a
// window that has ended by now is left out. [ErrFull]: there is no room.
func (t *Table) Restore(now Instant, id CounterID, w Window) error {
	now = now.clamp()
	if w.Used <= 0 || w.End <= now.Wall || !id.Algorithm.Windowed() {
		return nil
	}
	s := t.shardOf(id.Subject)
	s.mu.Lock()
	defer s.mu.Unlock()
	key := identify(id.Subject, id.Tag)
	at := s.slots.find(key, id.Algorithm)
	if at < 0 {
		if !s.slots.room(1) {
			s.rebuild(now, 1)
		}
		if !s.budget.take(1) {
			return ErrFull
		}
		at = s.slots.insert(key, id.Algorithm)
	}
	if e := s.slots.at(at); w.End > e.state.b || w.End == e.state.b && w.Used > e.state.a {
		e.state = state{a: min(w.Used, maxSpent), b: w.End}
		e.expires = expiry(now.Mono, time.Duration(w.End-now.Wall))
	}
	return nil
}
