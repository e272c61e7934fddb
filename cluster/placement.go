package cluster

import (
	"maps"
	"slices"
	"time"
)

// tombstoneLife is how long the placement remembers a member that is gone.
// Whoever was out of touch for less cannot bring the member back.
const tombstoneLife = time.Hour

// entry is what the placement says of one member: the newest boot heard of
// and its state.
type entry struct {
	incarnation uint64
	state       State
}

// over reports whether e is the later word: the higher incarnation, at one
// incarnation the later state.
func (e entry) over(o entry) bool {
	if e.incarnation != o.incarnation {
		return e.incarnation > o.incarnation
	}
	return e.state > o.state
}

// placed is an entry on its way between nodes.
type placed struct {
	id string
	entry
	// age is how long ago the member was gone; 0 for one that is not.
	age time.Duration
}

// record is an entry as a node keeps it.
type record struct {
	entry
	// since is when the member was gone, by this node's clock. Meaningless
	// while it is not.
	since time.Time
}

// placement says which members own partitions: for each id the highest entry
// anybody has heard of. Merging is commutative, associative and idempotent,
// so nodes that hear the same words in any order agree.
//
// Members that are gone stay as tombstones for tombstoneLife. Their age
// travels along and only grows, so nodes that tell each other of a tombstone
// do not keep it young. The highest incarnation among forgotten tombstones
// stays as floor: an unknown member below it that nobody sees alive comes
// from a node that missed a departure, and is taken for gone.
//
// A placement is immutable except for sweep; the zero value is empty.
type placement struct {
	records map[string]record
	floor   uint64
}

// merge returns p with the given entries merged in, and whether any record
// differs from p's. alive reports whether gossip knows a live member with
// this id at this incarnation or above.
func (p placement) merge(entries []placed, now time.Time, alive func(id string, incarnation uint64) bool) (placement, bool) {
	next, cloned := p, false
	for _, e := range entries {
		r := record{entry: e.entry, since: now.Add(-e.age)}
		old, known := next.records[e.id]
		switch {
		case !known && e.state.gone() && e.age >= tombstoneLife:
			continue
		case !known && !e.state.gone() && e.incarnation <= p.floor && !alive(e.id, e.incarnation):
			r = record{entry: entry{e.incarnation, StateLeft}, since: now}
		case known && e.entry == old.entry:
			if !e.state.gone() || !r.since.Before(old.since) {
				continue
			}
		case known && !e.over(old.entry):
			continue
		}
		if !cloned {
			next.records, cloned = maps.Clone(p.records), true
			if next.records == nil {
				next.records = make(map[string]record, len(entries))
			}
		}
		next.records[e.id] = r
	}
	return next, cloned
}

// sweep forgets the tombstones whose time is over.
func (p *placement) sweep(now time.Time) {
	for id, r := range p.records {
		if r.state.gone() && now.Sub(r.since) >= tombstoneLife {
			p.floor = max(p.floor, r.incarnation)
			delete(p.records, id)
		}
	}
}

// entries returns every record in the order of the ids, for the wire.
func (p placement) entries(now time.Time) []placed {
	out := make([]placed, 0, len(p.records))
	for _, id := range slices.Sorted(maps.Keys(p.records)) {
		r := p.records[id]
		e := placed{id: id, entry: r.entry}
		if r.state.gone() {
			e.age = max(0, now.Sub(r.since))
		}
		out = append(out, e)
	}
	return out
}

// owners returns the ids of the members that own partitions, ascending.
func (p placement) owners() []string {
	var ids []string
	for id, r := range p.records {
		if r.state == StateActive {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
