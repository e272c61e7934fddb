package limiter

import "time"

// MaxCooldown bounds a cool-down, which slows down and never bans.
const MaxCooldown = MaxPeriod

// coolingDown marks the slot of a cool-down among the algorithms. Otherwise it
// goes by its counter's identity, so the search for either looks at the same
// group of slots.
const coolingDown Algorithm = 1 << 7

// A cool-down's state holds when it began, of Instant.Mono, and the longest
// duration that calls gave it while it lasted. That of the call at hand
// counts; but what was over by the longest stays over whatever later calls
// say, so that nobody can tell whether its slot has been swept.

func newCooldown(now Instant, d time.Duration) state { return state{a: now.Mono, b: int64(d)} }

// cooldownLeft is how much longer c cools down, 0 if it does not.
func (s *shard) cooldownLeft(now Instant, subject Subject, c *Charge) time.Duration {
	i := s.findCooldown(subject, c)
	if i < 0 {
		return 0
	}
	e := s.slots.at(i)
	began, longest := e.state.a, time.Duration(e.state.b)
	age := time.Duration(now.Mono - began)
	if age >= longest || age >= c.Cooldown {
		return 0
	}
	if c.Cooldown > longest {
		e.state.b = int64(c.Cooldown)
		e.expires = expiry(began, c.Cooldown)
	}
	return c.Cooldown - age
}

func (s *shard) findCooldown(subject Subject, c *Charge) int {
	return s.slots.find(identify(subject, c.Tag), c.Limit.Algorithm|coolingDown)
}

// coolDown makes r, the answer of c's counter, that of c.
func (s *shard) coolDown(now Instant, subject Subject, c *Charge, r *Result) {
	if left := s.cooldownLeft(now, subject, c); left > 0 {
		r.coolFor(left)
	}
}

// coolFor makes r that of a limit which denies everything for a while, and
// then goes by its counter, of which r was the answer.
func (r *Result) coolFor(left time.Duration) {
	r.Allowed, r.Contended, r.Cooling, r.Delay = false, false, true, 0
	if r.RetryAfter != Never {
		r.RetryAfter = max(r.RetryAfter, left)
	}
	switch {
	case r.Remaining > 0: // the unit is there
		r.NextUnit = left
	case r.NextUnit != Never:
		r.NextUnit = max(r.NextUnit, left)
	}
	r.Remaining = 0
	r.ResetAfter = max(r.ResetAfter, left)
}

// beginCooldowns begins those that the denial of a take or a hold brings on,
// and answers with them. While one lasts, an attempt begins another only with
// Extend: a call of another cost could else put off the end, limit by limit.
func (s *shard) beginCooldowns(now Instant, call *Call, results []Result) {
	if call.Patient || !call.HasCooldowns() {
		return
	}
	lasts := s.coolsDown(now, call)
	for i := range call.Charges {
		c, r := &call.Charges[i], &results[i]
		if c.provokes(r) && (c.Extend || !lasts) && s.begin(now, call.Subject, c) {
			r.coolFor(c.Cooldown)
		}
	}
}

// HasCooldowns reports whether any limit of the call has a cool-down, begun or
// not.
func (c *Call) HasCooldowns() bool {
	for i := range c.Charges {
		if c.Charges[i].Cooldown > 0 {
			return true
		}
	}
	return false
}

// coolsDown reports whether any limit of call cools down.
func (s *shard) coolsDown(now Instant, call *Call) bool {
	for i := range call.Charges {
		if c := &call.Charges[i]; c.Cooldown > 0 && s.cooldownLeft(now, call.Subject, c) > 0 {
			return true
		}
	}
	return false
}

// provokes reports whether r is a denial of c that brings on a cool-down.
func (c *Charge) provokes(r *Result) bool {
	return c.Cooldown > 0 && c.Cost > 0 && !r.Allowed && !r.Contended && r.RetryAfter != Never
}

// begin begins c's cool-down, or begins it anew, and reports whether there was
// room for it.
func (s *shard) begin(now Instant, subject Subject, c *Charge) bool {
	i := s.findCooldown(subject, c)
	if i < 0 {
		if !s.makeRoomForOne(now) {
			return false
		}
		i = s.slots.insert(identify(subject, c.Tag), c.Limit.Algorithm|coolingDown)
	}
	e := s.slots.at(i)
	e.state, e.expires = newCooldown(now, c.Cooldown), expiry(now.Mono, c.Cooldown)
	return true
}
