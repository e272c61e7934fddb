package cluster

import (
	"errors"
	"fmt"
)

// ErrUnreachable is every failure to have a call decided by the owner of its
// key. The caller applies the policy's failure mode.
var ErrUnreachable = errors.New("owner out of reach")

// ErrNoOwner is the UnreachableError.Err of a client that knows no owner yet.
var ErrNoOwner = errors.New("no owner is known")

// ErrNoSession is the UnreachableError.Err when the session to the owner is
// down, so that nothing was sent.
var ErrNoSession = errors.New("no session")

// UnreachableError is the ErrUnreachable with its details.
type UnreachableError struct {
	// Member is the id of the owner, empty if none is known.
	Member string
	// Err is the cause: ErrNoOwner, ErrNoSession, ErrNotOwner (the members
	// did not agree on an owner in time) or the Peer's error.
	Err error
}

// Error names the member and the cause.
func (e *UnreachableError) Error() string {
	if e.Member == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("owner %s is out of reach: %v", e.Member, e.Err)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Is matches ErrUnreachable.
func (e *UnreachableError) Is(target error) bool { return target == ErrUnreachable }
