package transport

import (
	"errors"
	"fmt"
)

// Errors of [Client.Do], matched with errors.Is. A [*RefusedError] is the
// other kind: an answer.
var (
	// ErrDown means: there is no live session. Nothing was sent.
	ErrDown = errors.New("transport: no live session with the peer")
	// ErrQueueFull means: too many calls wait for this peer already. Nothing was sent.
	ErrQueueFull = errors.New("transport: the queue to the peer is full")
	// ErrOldPeer means: the peer speaks a version of the protocol in which the
	// call cannot be said. Nothing was sent.
	ErrOldPeer = errors.New("transport: the peer runs a version that does not know what it is asked (about several policies at once, a quota, a concurrency limit or a receipt); upgrade it")
	// ErrDeadline means: no answer in time. The call may have been charged if its
	// bytes were sent; one that was still queued is never sent.
	ErrDeadline = errors.New("transport: no answer from the peer within the deadline")
	// ErrBroken means: the connection ended after bytes of the call may have left.
	// It may have been charged.
	ErrBroken = errors.New("transport: the connection to the peer broke before it answered")
)

// Code is what a server answers for one call. The numbers travel between
// nodes: the list is closed and only appended to.
type Code uint8

const (
	// CodeOK is a decision; the results follow.
	CodeOK Code = iota
	// CodeNotOwner means: another node decides this key.
	CodeNotOwner
	// CodeFull means: there is no room for a new counter.
	CodeFull
	// CodeLate means: the deadline had passed before the call was looked at.
	CodeLate
	// CodeInvalid means: the call does not make sense to this server.
	CodeInvalid
	// CodeOverloaded means: refused to protect the server.
	CodeOverloaded
	// CodeClosing means: the server is shutting down.
	CodeClosing
	// CodeNotKept means: a durable counter could not be put on disk. The call
	// may have been charged; of the other codes only CodeOK charges.
	CodeNotKept
)

var codeNames = [...]string{
	CodeOK:         "ok",
	CodeNotOwner:   "not_owner",
	CodeFull:       "full",
	CodeLate:       "late",
	CodeInvalid:    "invalid",
	CodeOverloaded: "overloaded",
	CodeClosing:    "closing",
	CodeNotKept:    "not_kept",
}

// Codes lists every code in the order of its number.
func Codes() []Code {
	return []Code{CodeOK, CodeNotOwner, CodeFull, CodeLate, CodeInvalid, CodeOverloaded, CodeClosing, CodeNotKept}
}

// String returns the name used in logs and metrics, such as "not_owner".
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code(%d)", uint8(c))
}

// RefusedError is an answer other than CodeOK: the peer was reached, and
// nothing was charged, unless the code says otherwise.
type RefusedError struct {
	// Code is the peer's answer, never CodeOK. A newer peer may answer with
	// a code that this version does not know.
	Code Code
}

// Error names the code.
func (e *RefusedError) Error() string {
	return "transport: the peer refused the call: " + e.Code.String()
}
