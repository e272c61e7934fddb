package limiter_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

// leaseModel is the most literal account of two concurrency limits and a rate
// that leases are charged together.
type leaseModel struct {
	limits [3]*limiter.Limit // two of slots, and a log
	seats  []seat
	held   []heldSeat
	ended  map[uint64]int64 // when holds ended
	spent  []int64          // times
}

// seat is a slot of limit that a lease has.
type seat struct {
	limit  int
	lease  uint64
	lapses int64
}

// heldSeat is what one hold reserves: a slot of each, or a unit.
type heldSeat struct {
	id     uint64
	limits []int
	lapses int64
}

func (m *leaseModel) pass(now int64) {
	m.seats = slices.DeleteFunc(m.seats, func(s seat) bool { return s.lapses <= now })
	m.held = slices.DeleteFunc(m.held, func(h heldSeat) bool { return h.lapses <= now })
	m.spent = slices.DeleteFunc(m.spent, func(at int64) bool { return at <= now-int64(m.limits[2].Period) })
}

func (m *leaseModel) hasEnded(hold uint64) bool {
	_, ended := m.ended[hold]
	return ended
}

// used is what counts against limit i.
func (m *leaseModel) used(i int) int64 {
	n := len(m.spent)
	if i < 2 {
		n = 0
		for _, s := range m.seats {
			if s.limit == i {
				n++
			}
		}
	}
	for _, h := range m.held {
		if slices.Contains(h.limits, i) {
			n++
		}
	}
	return int64(n)
}

func (m *leaseModel) free(i int) int64 { return max(m.limits[i].Count-m.used(i), 0) }

// has is the place of the lease's seat in limit i, or -1.
func (m *leaseModel) has(i int, lease uint64) int {
	return slices.IndexFunc(m.seats, func(s seat) bool { return s.limit == i && s.lease == lease })
}

func (m *leaseModel) sit(now int64, i int, call *limiter.Call) {
	m.seats = append(m.seats, seat{i, call.Lease.Lo, now + int64(min(call.TTL, m.limits[i].Period))})
}

// do carries the call out on the given limits and returns which of them admit.
func (m *leaseModel) do(now int64, call *limiter.Call, on []int) []bool {
	m.pass(now)
	admits := make([]bool, len(on))
	for j, i := range on {
		admits[j] = m.free(i) > 0
	}
	all := !slices.Contains(admits, false)
	yes := slices.Repeat([]bool{true}, len(on))
	sitting := func() (n int) {
		for _, i := range on {
			if i < 2 && m.has(i, call.Lease.Lo) >= 0 {
				n++
			}
		}
		return n
	}
	switch call.Op {
	case limiter.Acquire:
		if sitting() > 0 {
			return yes
		}
		fallthrough
	case limiter.Take:
		for _, i := range on {
			switch {
			case !all:
			case i == 2:
				m.spent = append(m.spent, now)
			case call.Op == limiter.Acquire:
				m.sit(now, i, call)
			}
		}
	case limiter.Hold:
		if all {
			m.held = append(m.held, heldSeat{call.Hold.Lo, on, now + int64(call.Lapse)})
		}
	case limiter.Cancel, limiter.Confirm, limiter.Occupy:
		return m.end(now, call, on)
	case limiter.Renew:
		whole := sitting() == len(on)
		for j, i := range on {
			if admits[j] = m.has(i, call.Lease.Lo) >= 0; whole {
				m.seats = slices.Delete(m.seats, m.has(i, call.Lease.Lo), m.has(i, call.Lease.Lo)+1)
				m.sit(now, i, call)
			}
		}
	case limiter.Release:
		for j, i := range on {
			if at := m.has(i, call.Lease.Lo); at >= 0 {
				m.seats = slices.Delete(m.seats, at, at+1)
			}
			admits[j] = m.free(i) > 0
		}
	case limiter.Peek, limiter.Settle: // which slots have no part in
	case limiter.Reset:
		m.seats = slices.DeleteFunc(m.seats, func(s seat) bool { return slices.Contains(on, s.limit) })
		for j, i := range on {
			if i == 2 {
				m.spent = nil
			}
			admits[j] = m.free(i) > 0
		}
	}
	return admits
}

// end is a confirmation or a cancellation.
func (m *leaseModel) end(now int64, call *limiter.Call, on []int) []bool {
	admits, again := make([]bool, len(on)), m.hasEnded(call.Hold.Lo)
	if !again {
		m.ended[call.Hold.Lo] = now
	}
	open := len(m.held)
	m.held = slices.DeleteFunc(m.held, func(h heldSeat) bool { return h.id == call.Hold.Lo })
	held := len(m.held) < open
	for j, i := range on {
		switch {
		case again || call.Op == limiter.Cancel:
			admits[j] = m.free(i) > 0
			continue
		case i == 2:
			m.spent = append(m.spent, now)
		case call.Op == limiter.Occupy && (held || m.free(i) > 0):
			m.sit(now, i, call)
		case call.Op == limiter.Occupy:
			continue
		}
		admits[j] = true
	}
	return admits
}

// A table and the model live through the same random history, and agree on
// who is admitted and on what is free.
func TestLeasesAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := rapidChooser{t}
		m := leaseModel{ended: make(map[uint64]int64), limits: [3]*limiter.Limit{
			{Name: "wide", Algorithm: limiter.Concurrency, Count: 1 + c.choose(4), Period: sec},
			{Name: "narrow", Algorithm: limiter.Concurrency, Count: c.choose(3), Period: 300 * ms},
			{Name: "log", Algorithm: limiter.SlidingLog, Count: 1 + c.choose(6), Period: 2 * sec},
		}}
		table := limiter.NewTable(limiter.TableOptions{MaxKeys: 64})
		now := epoch
		var history strings.Builder
		holds, unknown := uint64(0), uint64(1000)
		owner := map[uint64][]int{} // of a hold: the limits that it is of
		for range 60 {
			now += int64(pick(c, 0, 0, ms, 100*ms, 300*ms, 300*ms-1, sec, sec-1, 2*sec))
			if c.choose(10) == 0 {
				table.Sweep(limiter.At(now), 1<<20)
			}
			call := limiter.Call{
				Op: pick(c, limiter.Acquire, limiter.Acquire, limiter.Acquire, limiter.Renew, limiter.Renew, limiter.Release, limiter.Release,
					limiter.Hold, limiter.Hold, limiter.Occupy, limiter.Occupy, limiter.Confirm, limiter.Cancel, limiter.Take, limiter.Peek, limiter.Reset),
				Subject: somebody, Lease: limiter.LeaseID{Lo: uint64(1 + c.choose(5))}, TTL: pick(c, sec, 300*ms, 50*ms, time.Hour),
			}
			on := pick(c, []int{0}, []int{1}, []int{0, 1}, []int{0, 2}, []int{1, 0, 2})
			if call.Op == limiter.Renew || call.Op == limiter.Release {
				on = slices.DeleteFunc(slices.Clone(on), func(i int) bool { return i == 2 })
			}
			if call.Op == limiter.Hold {
				holds++
				call.Hold.Lo, call.Lapse = holds, pick(c, sec, 100*ms)
				owner[holds] = on
			} else if call.Op.OfHold() {
				call.Hold.Lo = uint64(c.choose(int64(holds + 1)))
				if call.Hold.Lo == 0 { // a hold that never was
					unknown++
					call.Hold.Lo = unknown
					owner[unknown] = []int{0, 2}
				}
				if on = owner[call.Hold.Lo]; m.hasEnded(call.Hold.Lo) && now-m.ended[call.Hold.Lo] > int64(2*sec) {
					continue // the table need not remember it
				}
				call.Lease.Lo = 100 + call.Hold.Lo // each hold is on the way to a lease of its own
			}
			for _, i := range on {
				call.Charges = append(call.Charges, limiter.Charge{Limit: m.limits[i], Tag: m.limits[i].Tag(), Cost: 1})
			}
			fmt.Fprintf(&history, "+%v op %d lease %d hold %d ttl %v on %v\n", time.Duration(now-epoch), call.Op, call.Lease.Lo, call.Hold.Lo, call.TTL, on)
			results := make([]limiter.Result, len(on))
			if err := table.Do(limiter.At(now), &call, results); err != nil {
				t.Fatalf("%s%v", &history, err)
			}
			admits := m.do(now, &call, on)
			for j, i := range on {
				if results[j].Allowed != admits[j] || results[j].Remaining != m.free(i) {
					t.Fatalf("%slimit %d: got %+v, want allowed %v, %d free", &history, i, results[j], admits[j], m.free(i))
				}
			}
		}
		table.Sweep(limiter.At(now+int64(time.Hour)), 1<<20)
		if table.Len() != 0 {
			t.Fatalf("%s%d counters are left", &history, table.Len())
		}
	})
}
