// Package cluster decides which node counts a key, and asks it.
//
// A call enters at [Router.Do], which takes one [View] (ring, sessions) and
// finds the owner of the call's subject. If that is this node, the [Owner]
// decides from its table; otherwise the owner's [Peer] carries the call, and
// on the other side it reaches that node's Owner, which has no way to
// forward it again. A node that is not the owner answers [ErrNotOwner] with
// its placement, and the router follows by the newer View. When the owner
// cannot be asked in time the router returns one typed error
// ([*UnreachableError]), and the caller applies the policy's failure mode;
// [Share] is the one that counts.
//
// Beside it, [Membership] listens to gossip, merges the placement (who owns
// partitions), opens and closes sessions, and swaps Views.
//
// [Overrides] are the same on every node, whoever owns what: each holds them
// all, and tells the others what is new over the sessions that there are.
//
// Guaranteed: while all members hold one placement, every key has one
// owner, so its limit is exact. Not guaranteed yet: a partition that moves
// (join, leave) starts afresh on its new owner, and a crashed owner's
// counters are gone.
package cluster
