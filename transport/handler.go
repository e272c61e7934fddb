package transport

import (
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Handler decides the calls that reach a [Server]. It is called by several
// connections at once.
type Handler interface {
	// Handle decides call and fills results, which holds one zero value for
	// each charge. Only CodeOK and CodeNotKept may charge. It is called inline
	// between reading and answering, so it must neither block nor wait. call,
	// everything it points to, and results are valid only until it returns.
	//
	// A code that takes its time is that of later, if that is not nil. It waits
	// at most that long, while other calls are handled.
	Handle(call *limiter.Call, results []limiter.Result) (code Code, later Later)
}

// Later waits for a code. results are those that Handle has filled.
type Later = func(within time.Duration) Code

// Placement is a node's idea of who owns what. Both ends of a connection
// compare digests and hand over the state when they differ, so that the
// ideas become equal. Its methods are called by several connections at once.
type Placement interface {
	// Digest identifies the placement: equal digests, equal owners. It is
	// read once or twice for each frame.
	Digest() uint64
	// State is the placement for a peer whose digest differs, at most
	// [MaxStateBytes]. The result is only read.
	State() []byte
	// Merge takes in the state of a peer. It is effective when it returns;
	// the answers that the peer sent after it are delivered only then. state
	// is valid only until it returns.
	Merge(state []byte) error
}
