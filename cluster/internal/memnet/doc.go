// Package memnet is a network inside one process for memberlist, whose
// gossip then runs in a testing/synctest bubble.
//
// A [Network] has hosts, named by IP address. [Network.Listen] gives a
// memberlist.Transport at an address. Packets go straight into the other
// side's queue, which drops when full, as UDP does; streams are pipes. Links
// between hosts can be cut and healed: across a cut packets vanish and
// dialling waits for its timeout, as with a firewall that drops. Where
// nobody listens, dialling is refused at once.
//
// What it does not model: latency, reordering, partial writes.
package memnet
