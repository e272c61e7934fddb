package policy

import "slices"

// MostUsed makes one decision of looks at several counters that one name may
// mean, in the same policy: of each limit the counter of which most is used. One
// whose owner did not tell stands before those of others, as it may be that. A
// look at nothing, such as that of an unlimited key, stands back.
func MostUsed(first Decision, others ...Decision) Decision {
	d := first
	d.Limits = slices.Clone(first.Limits)
	for _, other := range others {
		switch len(d.Limits) {
		case len(other.Limits):
			for j := range d.Limits {
				if other.Limits[j].moreUsed(&d.Limits[j]) {
					d.Limits[j] = other.Limits[j]
				}
			}
		case 0:
			d = other
			d.Limits = slices.Clone(other.Limits)
		}
	}
	if len(d.Limits) > 0 {
		d.conclude()
	}
	return d
}

// moreUsed reports whether l is to be shown, and not other.
func (l *LimitResult) moreUsed(other *LimitResult) bool {
	if l.Source != other.Source {
		return l.Source > other.Source
	}
	used, known := l.Used()
	if than, both := other.Used(); known && both && used != than {
		return used > than
	}
	return Closer(&l.Result, &other.Result)
}
