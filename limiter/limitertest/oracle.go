package limitertest

import (
	"math"
	"math/big"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Oracle answers calls as [limiter.Table.Do] must, in the most literal way:
// counters in rational numbers, waits by searching for the first nanosecond
// that will do. It forgets no counter, has no bound, and its clock never
// runs back over all subjects.
//
// It knows no leases, and so no limits of the algorithm Concurrency.
//
// An Oracle is for one goroutine. The zero value is not usable; see
// [NewOracle].
type Oracle struct {
	now       limiter.Instant
	counters  map[counterID]counter
	holds     oracleHolds
	cooldowns map[counterID]cooldown
	settled   map[receiptPart]bool
}

// receiptPart is what is settled at one time.
type receiptPart struct {
	id      limiter.ReceiptID
	subject limiter.Subject
}

type counterID struct {
	subject   limiter.Subject
	tag       uint64
	algorithm limiter.Algorithm
}

// counter is one algorithm's view of what was spent.
type counter interface {
	// used is the units that count against the limit d ns after now, if
	// nothing more is charged. It never rises with d.
	used(now limiter.Instant, d *big.Int, l *limiter.Limit) *big.Rat
	// charge adds a charge, under a receipt's id unless that is zero.
	charge(now limiter.Instant, l *limiter.Limit, cost int64, id limiter.ReceiptID)
	// giveBack takes up to units out of the charge of that id, as far as they
	// still count.
	giveBack(now limiter.Instant, l *limiter.Limit, id limiter.ReceiptID, units int64)
	clone() counter
}

// NewOracle returns an Oracle without counters.
func NewOracle() *Oracle {
	return &Oracle{
		now:       limiter.Instant{Mono: math.MinInt64, Wall: math.MinInt64},
		counters:  make(map[counterID]counter),
		holds:     oracleHolds{open: make(map[limiter.HoldID]oracleHold), ended: make(map[limiter.HoldID]bool)},
		cooldowns: make(map[counterID]cooldown),
		settled:   make(map[receiptPart]bool),
	}
}

// Do decides call at now and fills results, one for each charge. The call
// must be valid, and so must be its limits. No id is used twice. A charge is
// open for ever.
func (o *Oracle) Do(now limiter.Instant, call *limiter.Call, results []limiter.Result) {
	o.now.Mono = max(o.now.Mono, now.Mono)
	o.now.Wall = max(o.now.Wall, now.Wall)
	o.holds.lapse(o.now)
	if call.Op == limiter.Settle {
		o.settle(call, results)
		return
	}
	confirms := call.Op == limiter.Confirm && !o.holds.ended[call.Hold]
	if call.Op == limiter.Confirm || call.Op == limiter.Cancel {
		o.holds.end(call.Hold)
	}
	admitted := true
	for i := range call.Charges {
		c := &call.Charges[i]
		if call.Op == limiter.Reset {
			delete(o.counters, idOf(call, c))
			delete(o.cooldowns, idOf(call, c))
		}
		results[i] = o.ask(call, c)
		admitted = admitted && results[i].Allowed
		if confirms {
			admit(&results[i], 0)
		}
	}
	switch {
	case call.Op == limiter.Hold && admitted:
		o.holds.add(o.now, call)
	case call.Op == limiter.Take && admitted, confirms:
		for i := range call.Charges {
			if c := &call.Charges[i]; c.Cost > 0 {
				o.counter(call, c).charge(o.now, c.Limit, c.Cost, call.Receipt)
			}
		}
	case call.Op == limiter.Hold, call.Op == limiter.Take:
		o.coolDown(call, results)
		return
	default:
		return
	}
	for i := range call.Charges {
		if c := &call.Charges[i]; c.Cost > 0 {
			delay := results[i].Delay
			results[i] = o.ask(call, c)
			admit(&results[i], delay)
		}
	}
}

// admit makes r, which describes a counter, an admission with the given delay.
func admit(r *limiter.Result, delay time.Duration) {
	r.Allowed, r.Contended, r.Cooling, r.RetryAfter, r.Delay = true, false, false, 0, delay
}

// settle makes good the difference of what was charged, once.
func (o *Oracle) settle(call *limiter.Call, results []limiter.Result) {
	part := receiptPart{call.Receipt, call.Subject}
	for i := range call.Charges {
		c := &call.Charges[i]
		switch more := c.Cost - call.Charged; {
		case o.settled[part]:
		case more > 0:
			o.counter(call, c).charge(o.now, c.Limit, more, limiter.ReceiptID{})
		default:
			o.counter(call, c).giveBack(o.now, c.Limit, call.Receipt, -more)
		}
		results[i] = o.ask(call, c)
		admit(&results[i], 0)
	}
	o.settled[part] = true
}

func idOf(call *limiter.Call, c *limiter.Charge) counterID {
	return counterID{call.Subject, c.Tag, c.Limit.Algorithm}
}

func (o *Oracle) counter(call *limiter.Call, c *limiter.Charge) counter {
	id := idOf(call, c)
	if o.counters[id] == nil {
		o.counters[id] = newCounter(c.Limit.Algorithm)
	}
	return o.counters[id]
}

// ask answers c as its counter is beside what is held.
func (o *Oracle) ask(call *limiter.Call, c *limiter.Charge) limiter.Result {
	counter := o.counter(call, c)
	held := o.holds.units(idOf(call, c))
	cool := o.cooldownLeft(call, c)
	if held == 0 {
		return o.askAlone(counter, c, cool)
	}
	beside := counter.clone()
	beside.charge(o.now, c.Limit, held, limiter.ReceiptID{})
	r := o.askAlone(beside, c, cool)
	r.Contended = !r.Allowed && o.askAlone(counter, c, cool).Allowed
	return r
}

// askAlone answers c by a counter from which nothing can be had for cool ns.
func (o *Oracle) askAlone(counter counter, c *limiter.Charge, cool *big.Int) limiter.Result {
	l := c.Limit
	ask := max(c.Cost, 1)
	cooled := func(d *big.Int) bool { return d.Cmp(cool) >= 0 }
	room := func(d *big.Int) *big.Rat {
		return new(big.Rat).Sub(whole(l.Capacity()), counter.used(o.now, d, l))
	}
	fits := func(units int64) time.Duration {
		if units > l.Capacity() {
			return limiter.Never
		}
		return first(func(d *big.Int) bool { return cooled(d) && room(d).Cmp(whole(units)) >= 0 })
	}

	r := limiter.Result{Limit: l.Count, Cooling: cool.Sign() > 0}
	if cooled(new(big.Int)) {
		r.Remaining = max(floor(room(new(big.Int))), 0)
	}
	r.RetryAfter = fits(ask)
	r.Allowed = r.RetryAfter == 0
	r.ResetAfter = first(func(d *big.Int) bool { return cooled(d) && counter.used(o.now, d, l).Sign() == 0 })
	if r.ResetAfter > 0 || l.Count == 0 {
		r.NextUnit = fits(r.Remaining + 1)
	}
	if r.Allowed && c.Cost > 0 && l.Algorithm == limiter.LeakyBucket {
		ahead := new(big.Rat).Add(counter.used(o.now, new(big.Int), l), whole(c.Cost-1))
		r.Delay = first(func(d *big.Int) bool { return drained(d, l).Cmp(ahead) >= 0 })
	}
	return r
}

// first is the shortest wait of whole ns that is long enough, or the longest
// there is. Waits longer than one that is long enough must be, too.
func first(enough func(*big.Int) bool) time.Duration {
	if enough(new(big.Int)) {
		return 0
	}
	low, high := int64(0), int64(math.MaxInt64) // low is too short, high is taken for enough
	for high-1 > low {
		middle := low + int64(uint64(high-low)/2)
		if enough(big.NewInt(middle)) {
			high = middle
		} else {
			low = middle
		}
	}
	return time.Duration(high)
}

func whole(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// floor rounds r down.
func floor(r *big.Rat) int64 {
	return new(big.Int).Div(r.Num(), r.Denom()).Int64() // Euclidean, and denominators are positive
}

// drained is what a bucket loses in d ns.
func drained(d *big.Int, l *limiter.Limit) *big.Rat {
	rate := big.NewRat(l.Count, int64(l.Period))
	return rate.Mul(rate, new(big.Rat).SetInt(d))
}

// since is to + d - from.
func since(from, to int64, d *big.Int) *big.Int {
	n := new(big.Int).Sub(big.NewInt(to), big.NewInt(from))
	return n.Add(n, d)
}
