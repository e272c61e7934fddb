package transport

import "time"

// exchange decides when the placement's state is to be handed to the other
// end of one connection: when the digests differ, but not again for the same
// two digests within stateEvery. What was left out for that reason has
// reached the other end already, because a connection keeps its order.
type exchange struct {
	mine, theirs uint64
	at           time.Duration
	sent         bool
}

func (e *exchange) due(now time.Duration, mine, theirs uint64) bool {
	if mine == theirs {
		return false
	}
	if e.sent && e.mine == mine && e.theirs == theirs && now-e.at < stateEvery {
		return false
	}
	*e = exchange{mine: mine, theirs: theirs, at: now, sent: true}
	return true
}
