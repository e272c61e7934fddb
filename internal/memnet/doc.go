// Package memnet is a network of hosts inside one process, for whole nodes:
// the packets and streams of gossip and the connections of peers. It works in
// testing/synctest bubbles, on virtual time, and outside them.
//
// A [Network] has hosts, named by IP address. [Host.Listen] and
// [Host.DialContext] are TCP, [Host.ListenGossip] is TCP and UDP at one port
// as a memberlist.Transport. Bytes that are written go into the flow of their
// direction: without a delay they can be read at once, with one they are
// stamped with the instant at which they can be, and a reader that waits for
// it sets the only timer. Packets go into the queue of the socket, or wait
// for their instant in one list.
//
// Faults: delay with jitter (which reorders packets), loss, duplication, cuts
// of one or both directions, a host that is slow, paused, or crashed. All
// random choices come from one seeded source, in the order in which things
// are sent.
//
// Streams behave as TCP does: bytes arrive in order, once, or not yet. Lost
// ones come later. Across a cut they are held, and arrive after the heal if
// the stream still stands; dialling waits. Where nobody listens it is refused.
//
// What it does not model: bandwidth, congestion, acknowledgements (a stream
// whose way back is cut carries bytes forward until its window is full), and
// the pauses that TCP makes before it tries again after a heal.
package memnet
