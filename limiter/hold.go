package limiter

import "time"

// HoldID names one hold. The asker makes it of 128 random bits. The zero
// value names none.
type HoldID struct{ Hi, Lo uint64 }

// MaxLapse bounds how long a hold may stay open.
const MaxLapse = 10 * time.Second

// Bounds of what is kept of holds, beside the table's MaxKeys.
const (
	// maxHolds is how many may be open in one table, each taking some 150
	// bytes.
	maxHolds = 1 << 16
	// maxSubjectHolds is how many may be open on one subject: every call on
	// it looks at them all.
	maxSubjectHolds = 1 << 10
	// maxEndedHolds is how many that have ended one shard remembers.
	maxEndedHolds = 1 << 12
	// holdMemory is how long an ended hold is remembered at most, in ns: much
	// longer than a call is on its way.
	holdMemory = int64(2 * time.Second)
)

// hold is the units that one open hold reserves.
type hold struct {
	id       HoldID
	lapses   int64 // Instant.Mono from which it counts no more
	reserved int   // counters, log blocks and places of receipts that charging it may take
	units    []heldUnits
}

// heldUnits is a hold's part in one counter.
type heldUnits struct {
	tag       uint64
	algorithm Algorithm
	cost      int64
}

// holdBook is the holds of one shard. Most shards have none, and no book.
type holdBook struct {
	open  map[Subject][]hold
	ended map[HoldID]struct{}
	order []endedHold // of ended, oldest first
}

// endedHold is a hold that was confirmed or cancelled. Until it is forgotten
// neither can happen to it again.
type endedHold struct {
	id HoldID
	at int64 // Instant.Mono
}

func newHoldBook() *holdBook {
	return &holdBook{open: make(map[Subject][]hold), ended: make(map[HoldID]struct{})}
}

// heldBy is the units that the holds reserve in the counter of c.
func heldBy(open []hold, c *Charge) int64 {
	if len(open) == 0 { // inlined, for nearly every call
		return 0
	}
	return sumHeld(open, c)
}

func sumHeld(open []hold, c *Charge) int64 {
	sum := int64(0)
	for i := range open {
		for j := range open[i].units {
			u := &open[i].units[j]
			if u.tag == c.Tag && u.algorithm == c.Limit.Algorithm {
				sum = min(sum+u.cost, maxSpent)
			}
		}
	}
	return sum
}

// indexOf is the place of a hold among a subject's, or -1.
func indexOf(open []hold, id HoldID) int {
	for i := range open {
		if open[i].id == id {
			return i
		}
	}
	return -1
}

// hasEnded reports whether the hold was confirmed or cancelled.
func (b *holdBook) hasEnded(id HoldID) bool {
	_, ended := b.ended[id]
	return ended
}

// end remembers that the hold has ended.
func (b *holdBook) end(id HoldID, now int64) {
	if len(b.order) >= maxEndedHolds {
		b.forget(1)
	}
	b.ended[id] = struct{}{}
	b.order = append(b.order, endedHold{id, now})
}

// forget drops the oldest n ended holds.
func (b *holdBook) forget(n int) {
	for _, e := range b.order[:n] {
		delete(b.ended, e.id)
	}
	b.order = b.order[n:]
}

// forgetOld drops the ended holds that are older than the memory for them.
func (b *holdBook) forgetOld(now int64) {
	n := 0
	for n < len(b.order) && now-b.order[n].at > holdMemory {
		n++
	}
	b.forget(n)
}

// empty reports whether the book can go.
func (b *holdBook) empty() bool { return len(b.open) == 0 && len(b.order) == 0 }
