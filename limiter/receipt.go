package limiter

import (
	"slices"
	"time"
)

// ReceiptID names the charge of one request, so that it can be settled. The
// asker makes it of 128 random bits. The zero value names none.
type ReceiptID struct{ Hi, Lo uint64 }

// ReceiptLife is how long a charge can be settled.
const ReceiptLife = time.Hour

// Bounds of what is kept of charges that can be settled. Each open charge and
// each settled id takes a place of the table's MaxKeys.
const (
	// settledMemory is how long a settled id is remembered, in ns: for as long
	// as its receipt is good, by the clocks of other nodes too.
	settledMemory = int64(ReceiptLife + time.Minute)
	// settledSpan is how long ids go to one generation, in ns, so that a shard
	// has at most eight to look into.
	settledSpan = int64(10 * time.Minute)
	// maxOpenCharges is how many may be open on one counter: giving one back
	// looks at those that came after it.
	maxOpenCharges = 1 << 12
)

// counterID names a counter of a shard.
type counterID struct {
	identity
	algorithm Algorithm
}

// openCharge is a charge of one counter that is not settled yet.
type openCharge struct {
	id    ReceiptID
	until int64 // Instant.Mono from which nothing of it can be given back
	cost  int64
	// then says where the charge is. In a bucket it is the debt as it would be
	// without whatever was charged later: this charge and those ahead of it, in
	// the form of the bucket's own state. In a fixed window it is the state
	// after the charge, in a sliding one too, and a log has the time of its
	// entry in a.
	then state
}

// generation is the ids that were settled within one span.
type generation struct {
	ends int64 // Instant.Mono from which none of them need be remembered
	ids  map[ReceiptID]struct{}
}

// receiptBook is what one shard knows of charges that can be settled. Most
// shards have none, and no book.
type receiptBook struct {
	open    map[counterID][]openCharge // in the order in which they were charged
	settled []generation               // oldest first
}

// about makes the id one for the part of the receipt that concerns subject: a
// receipt over several can have two of them in one shard.
func (id ReceiptID) about(s Subject) ReceiptID { return ReceiptID{id.Hi ^ s.Hi, id.Lo ^ s.Lo} }

func newReceiptBook() *receiptBook {
	return &receiptBook{open: make(map[counterID][]openCharge)}
}

// add remembers an open charge. It returns how many others went for it: the
// oldest, of which nothing can be given back or that are too many.
func (b *receiptBook) add(counter counterID, o openCharge, now int64) (gone int) {
	list := b.open[counter]
	for gone < len(list) && (list[gone].until <= now || len(list)-gone >= maxOpenCharges) {
		gone++
	}
	b.open[counter] = append(list[gone:], o)
	return gone
}

// indexOf is the place of a charge in its counter's list, or -1.
func (b *receiptBook) indexOf(counter counterID, id ReceiptID) int {
	list := b.open[counter]
	for i := range list {
		if list[i].id == id {
			return i
		}
	}
	return -1
}

// drop forgets a counter's open charge.
func (b *receiptBook) drop(counter counterID, i int) {
	b.keep(counter, slices.Delete(b.open[counter], i, i+1))
}

// keep leaves a counter with the given open charges.
func (b *receiptBook) keep(counter counterID, list []openCharge) {
	if len(list) == 0 {
		delete(b.open, counter)
	} else {
		b.open[counter] = list
	}
}

// isSettled reports whether the id is remembered as settled.
func (b *receiptBook) isSettled(id ReceiptID) bool {
	for i := range b.settled {
		if _, known := b.settled[i].ids[id]; known {
			return true
		}
	}
	return false
}

// settle remembers that the id is settled.
func (b *receiptBook) settle(id ReceiptID, now int64) {
	ends := now + settledMemory
	if n := len(b.settled); n == 0 || b.settled[n-1].ends < ends {
		b.settled = append(b.settled, generation{ends + settledSpan, make(map[ReceiptID]struct{})})
	}
	b.settled[len(b.settled)-1].ids[id] = struct{}{}
}

// sweep forgets what nobody can settle any more, and returns how many places
// that frees.
func (b *receiptBook) sweep(now int64) (freed int) {
	for counter, list := range b.open {
		kept := slices.DeleteFunc(list, func(o openCharge) bool { return o.until <= now })
		freed += len(list) - len(kept)
		b.keep(counter, kept)
	}
	for len(b.settled) > 0 && b.settled[0].ends <= now {
		freed += len(b.settled[0].ids)
		b.settled = b.settled[1:]
	}
	return freed
}

// empty reports whether the book can go.
func (b *receiptBook) empty() bool { return len(b.open) == 0 && len(b.settled) == 0 }
