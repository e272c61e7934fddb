package policy

import "math/bits"

// index narrows down which policies a request can match, by what policies
// differ in: the method, the host, the first segments of the path and the
// fields that several of them look at. For each value there is a set of
// policies, one bit each; what all sets hold remains to be tried.
type index struct {
	method, host dimension
	segments     [indexedSegments]dimension
	fields       []fieldDimension
}

const (
	indexedSegments = 4
	indexedFields   = 8
	// worthField is how many policies want a field to have a value before it
	// is looked at for all of them.
	worthField = 4
)

// fieldDimension tells policies apart by the value that they want of a field.
type fieldDimension struct {
	dimension
	source source
}

// bitset holds numbers.
type bitset []uint64

func (b bitset) add(i int) { b[i/64] |= 1 << (i % 64) }

// dimension is the sets of policies by one property of requests.
type dimension struct {
	byValue map[string]bitset
	any     bitset // the policies that take any value
}

func newDimension(policies int) dimension {
	return dimension{byValue: make(map[string]bitset), any: make(bitset, (policies+63)/64)}
}

// add enters a policy that takes only some values, or without values any.
func (d *dimension) add(policy int, values ...string) {
	if len(values) == 0 {
		d.any.add(policy)
	}
	for _, value := range values {
		if d.byValue[value] == nil {
			d.byValue[value] = make(bitset, len(d.any))
		}
		d.byValue[value].add(policy)
	}
}

// finish makes every value's set whole.
func (d *dimension) finish() {
	for _, set := range d.byValue {
		for i := range set {
			set[i] |= d.any[i]
		}
	}
}

func (d *dimension) of(value string) bitset {
	if set, ok := d.byValue[value]; ok {
		return set
	}
	return d.any
}

func newIndex(all []*rules) index {
	x := index{method: newDimension(len(all)), host: newDimension(len(all))}
	for i := range x.segments {
		x.segments[i] = newDimension(len(all))
	}
	for i, r := range all {
		m := r.match
		x.method.add(i, m.methods...)
		if m.host != nil && m.host.name != "" {
			x.host.add(i, m.host.name)
		} else {
			x.host.add(i)
		}
		x.addPath(i, m.path)
	}
	x.addFields(all)
	x.method.finish()
	x.host.finish()
	for i := range x.segments {
		x.segments[i].finish()
	}
	return x
}

// addPath enters where a policy wants which segment, or none. p is nil for
// any path.
func (x *index) addPath(policy int, p *pathPattern) {
	for i := range x.segments {
		segment, ok := p.fixed(i)
		if !ok {
			x.segments[i].add(policy)
			continue
		}
		x.segments[i].add(policy, segment)
	}
}

// addFields makes dimensions of the fields that enough policies look at.
func (x *index) addFields(all []*rules) {
	wanted := make(map[source]map[int]string) // by policy
	for i, r := range all {
		for _, f := range r.match.fields {
			if f.value == "" {
				continue
			}
			if wanted[f.source] == nil {
				wanted[f.source] = make(map[int]string)
			}
			wanted[f.source][i] = f.value // of two values, which no single one is, either will do
		}
	}
	for s, byPolicy := range wanted {
		if len(byPolicy) < worthField || len(x.fields) == indexedFields {
			continue
		}
		d := fieldDimension{newDimension(len(all)), s}
		for i := range all {
			if value, ok := byPolicy[i]; ok {
				d.add(i, value)
			} else {
				d.add(i)
			}
		}
		d.finish()
		x.fields = append(x.fields, d)
	}
}

// each calls f with every policy that v may match, in their order, until it
// returns false.
func (x *index) each(v *view, f func(policy int) bool) {
	var room [2 + indexedFields]bitset
	sets := append(room[:0], x.method.of(v.method), x.host.of(v.host))
	for i := range x.fields {
		if s := &x.fields[i].source; len(v.repeats(s)) == 0 { // of several values any may be wanted
			sets = append(sets, x.fields[i].of(v.value(s)))
		}
	}
	normal := x.ofPath(v.path)
	var whole [indexedSegments]bitset
	if v.whole != "" {
		whole = x.ofPath(v.whole)
	}
	for word := range sets[0] {
		left := common(normal[:], word)
		if v.whole != "" { // either may be wanted
			left |= common(whole[:], word)
		}
		left &= common(sets, word)
		for ; left != 0; left &= left - 1 {
			if !f(word*64 + bits.TrailingZeros64(left)) {
				return
			}
		}
	}
}

// ofPath is the sets of the first segments of path.
func (x *index) ofPath(path string) (sets [indexedSegments]bitset) {
	for i := range sets {
		var segment string
		segment, path = nextSegment(path)
		sets[i] = x.segments[i].of(segment)
	}
	return sets
}

// common is one word of what all of sets hold.
func common(sets []bitset, word int) uint64 {
	all := ^uint64(0)
	for _, set := range sets {
		all &= set[word]
	}
	return all
}
