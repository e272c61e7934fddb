package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// ErrNotOwner is what a node answers that is not the authority of a call's
// partition. Nothing was charged, and the answering node's placement has
// been merged: the newer View says whom to ask.
var ErrNotOwner = errors.New("not the owner of this key")

// Peer is this node's conversation with one other member.
type Peer interface {
	// Do asks the peer to decide call and fills results, which has one
	// element for each charge. It returns by the deadline or when ctx ends.
	//
	// ErrNotOwner: answered, nothing charged. limiter.ErrFull: answered,
	// nothing charged. Every other error means that the peer is out of reach
	// for this call; the call may have been charged if its bytes were sent.
	// Do never sends a call twice.
	Do(ctx context.Context, deadline time.Time, call *limiter.Call, results []limiter.Result) error
	// Reachable reports whether the session is up now.
	Reachable() bool
	// Close ends the session; calls in flight fail. It does not block for
	// longer than a moment, and is idempotent.
	Close()
}

// Connect opens the session to a member. It returns at once; the session
// comes up and stays up by itself until it is closed.
type Connect func(Member) Peer
