package policy

// Combine makes one decision of those that several policies came to on one
// request. It is that of the policy closest to denying: a denial, and among
// denials the one with the longest wait, before an admission with the fewest
// remaining. A policy in shadow stands back behind one that is not. Policy,
// Cost, Shadow, OnUnreachable and DenyStatus are that policy's. Limits are those of all,
// in order. An admission waits for the slowest (Delay), and its Source is the
// weakest of all. It has no Receipt: each of them has its own.
func Combine(first Decision, others ...Decision) Decision {
	d, delay, source := first, first.Delay, first.Source
	limits := first.Limits[:len(first.Limits):len(first.Limits)] // appending copies
	for i := range others {
		other := &others[i]
		if d.Shadow && !other.Shadow || d.Shadow == other.Shadow && Closer(&other.Result, &d.Result) {
			d = *other
		}
		delay, source = max(delay, other.Delay), max(source, other.Source)
		limits = append(limits, other.Limits...)
	}
	d.Limits, d.Receipt = limits, ""
	if d.Allowed {
		d.Delay, d.Source = delay, source
	}
	return d
}
