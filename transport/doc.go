// Package transport carries calls from node to node: frames over one TCP
// connection to each peer, multiplexed and pipelined.
//
// A call enters at [Client.Do], is encoded in the caller's goroutine and
// queued. The session's writer sends it at once if it is idle; what arrives
// while it writes goes into the next frame. On the other side a [Server]'s
// connection reads the frame, gives each call that is not too late to the
// [Handler], and answers what it has read in one go. The session's reader
// hands each answer to its caller, who may have left at its deadline.
//
// Beside the calls, heartbeats keep [Client.Reachable] true to the moment,
// and both ends compare the digests of their [Placement] in every frame and
// hand over the state when they differ, and tell each other what is new in
// their [Feed]. [SecretTLS] and [FilesTLS] make the mutual TLS that lets only
// members in.
//
// Guaranteed: a call is sent at most once. What Do says of an error holds:
// ErrDown and ErrQueueFull mean that nothing was sent, a RefusedError that
// nothing was charged. An answer comes after the placement that explains it.
// Memory and the time that a stranger can hold a connection are bounded.
//
// Not promised: that a call whose answer did not come was not charged; that
// a server finds every call late that is (it cannot see how long bytes lay
// in the network). Times are durations; no clock is compared with another.
package transport
