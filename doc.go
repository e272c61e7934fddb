// Package murmurate is a rate limiter that runs as a cluster of equals
// beside the applications it protects.
//
// [Start] makes a [Node]. A check enters at [Node.Check]: the policies turn
// the request into limits to charge, the cluster's router has them decided
// by the one node that owns the key, and the results become one
// [policy.Decision]. If the owner cannot be asked in time, the policy's
// failure mode decides, and the decision says so in its Source.
//
// A denial is a decision, not an error. The errors of a check are of two
// kinds: policy.ErrInput, when nothing was decided because the request was
// wrong, and infrastructure errors ([cluster.ErrUnreachable],
// [limiter.ErrFull]), with which the decision has already been made by the
// failure mode and may simply be used.
//
// A concurrency limit has slots instead of units. [Node.Acquire] gives a lease of
// them, which one goroutine of the node renews with all others until it is
// released; [Node.Grant] gives one that its holder renews, by its token, at any
// node.
//
// There are no globals, and nothing here handles signals: any number of
// nodes run in one process.
//
// While all members agree on who owns what, a limit is exact over the whole
// cluster. Not promised yet: counters do not move with their keys when nodes
// join or leave, and those of a crashed node are gone; leases of theirs are lost.
package murmurate
