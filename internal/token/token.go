package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
)

// Kind is what a token is good for, so that one is not taken for another. The
// numbers are in tokens that clients keep: the list is only appended to.
type Kind uint8

const (
	// Lease names a holder of a concurrency limit.
	Lease Kind = 1 + iota
	// Receipt names a charge that is settled later.
	Receipt
)

// ErrInvalid is a token that this cluster did not make, or did not make for
// this, or that was changed on its way.
var ErrInvalid = errors.New("the token is not one of this cluster's")

// MaxBytes bounds the text of a token.
const MaxBytes = 8 << 10

// macBytes of HMAC-SHA-256 are kept. Half of its output is as short as RFC
// 2104, section 5, lets it be.
const macBytes = sha256.Size / 2

// KeyBytes is the length of a key.
const KeyBytes = 32

// Signer makes and opens tokens. It is safe for concurrent use.
type Signer struct{ key []byte }

// NewSigner signs with key, which all nodes of a cluster share.
func NewSigner(key []byte) Signer { return Signer{key} }

// Sign returns a token that holds payload, in the alphabet of base64url
// (RFC 4648, section 5) without padding.
func (s Signer) Sign(k Kind, payload []byte) string {
	signed := append([]byte{byte(k)}, payload...)
	return base64.RawURLEncoding.EncodeToString(s.mac(signed, signed))
}

// Open returns what a token of kind k holds, or ErrInvalid.
func (s Signer) Open(k Kind, text string) ([]byte, error) {
	if len(text) > MaxBytes {
		return nil, ErrInvalid
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < 1+macBytes || Kind(raw[0]) != k {
		return nil, ErrInvalid
	}
	signed := raw[:len(raw)-macBytes]
	if !hmac.Equal(s.mac(nil, signed), raw[len(signed):]) {
		return nil, ErrInvalid
	}
	return signed[1:], nil
}

// mac appends the code of signed to b.
func (s Signer) mac(b, signed []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write(signed)
	return append(b, h.Sum(nil)[:macBytes]...)
}
