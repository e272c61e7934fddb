package receipt

import (
	"errors"
	"fmt"
	"time"

	"github.com/murmurate/murmurate/internal/token"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/transport"
)

// Errors of a receipt, matched with errors.Is.
var (
	// ErrInvalid means: no node of this cluster has made it.
	ErrInvalid = errors.New("is not a receipt that this cluster has made, or not all of it")
	// ErrExpired means: it was good for an hour, and that is over.
	ErrExpired = fmt.Errorf("has expired: a charge can be settled for %v, and now stays what was estimated", limiter.ReceiptLife)
	// ErrTooLong means: what was charged does not fit into a token.
	ErrTooLong = errors.New("would be too long: so many limits apply that they need receipts of their own, policy by policy")
)

// Place says who has made a charge. The numbers are in receipts that clients
// keep: the list is only appended to.
type Place uint8

const (
	// Nobody has counted: the charge cannot be settled.
	Nobody Place = iota
	// Owner is the owner of the counter.
	Owner
	// Share is the local share of the node that made the receipt.
	Share
)

// Receipt is what one check has charged.
type Receipt struct {
	ID limiter.ReceiptID
	// Expires is a wall time of the node that made the receipt, in whole
	// milliseconds.
	Expires time.Time
	// Node is the id of that node.
	Node string
	// Parts are the policies that applied.
	Parts []Part
}

// Part is what one policy has charged.
type Part struct {
	// Policy and Shadow are the policy's.
	Policy string
	Shadow bool
	// Subject is whom it counts.
	Subject limiter.Subject
	Place   Place
	// Charged is the units, 0 if it was only asked whether there is room.
	Charged int64
	// Limits are those that were in force, with their names.
	Limits []limiter.Limit
}

// Signer makes and opens receipts. It is safe for concurrent use.
type Signer struct {
	tokens token.Signer
	limits transport.LimitReader
}

// NewSigner makes receipts that are tokens of t.
func NewSigner(t token.Signer) *Signer { return &Signer{tokens: t} }

// maxBytes is what fits into a token beside its kind and its code.
const maxBytes = token.MaxBytes/4*3 - 32

// Sign returns r as text. The error is ErrTooLong, or that a limit is of a
// time zone that other nodes cannot know.
func (s *Signer) Sign(r *Receipt) (string, error) {
	b, err := r.encode()
	if err != nil {
		return "", err
	}
	return s.tokens.Sign(token.Receipt, b), nil
}

// Fits is nil if r can be signed, with other places and no larger charges too,
// or the error of Sign.
func (r *Receipt) Fits() error {
	_, err := r.encode()
	return err
}

// Open reads a receipt at the wall time now. The error is ErrInvalid or
// ErrExpired.
func (s *Signer) Open(text string, now time.Time) (*Receipt, error) {
	b, err := s.tokens.Open(token.Receipt, text)
	if err != nil {
		return nil, ErrInvalid
	}
	r, ok := s.decode(b)
	if !ok {
		return nil, ErrInvalid
	}
	if !now.Before(r.Expires) {
		return nil, ErrExpired
	}
	return r, nil
}
