package cluster

import (
	"encoding/binary"
	"errors"

	"github.com/dchest/siphash"

	"github.com/murmurate/murmurate/limiter"
)

// IdentityKeyBytes is the length of an identity key.
const IdentityKeyBytes = 16

var errIdentityKey = errors.New("an identity key has 16 bytes")

// Identity turns keys into subjects: SipHash-2-4 with 128 bits of output
// (Aumasson and Bernstein, 2012) under a key that the whole cluster shares.
// Without that key nobody can craft a key that spends another one's limit.
type Identity struct{ k0, k1 uint64 }

// NewIdentity uses the first IdentityKeyBytes of key.
func NewIdentity(key []byte) (Identity, error) {
	if len(key) < IdentityKeyBytes {
		return Identity{}, errIdentityKey
	}
	return Identity{
		k0: binary.LittleEndian.Uint64(key),
		k1: binary.LittleEndian.Uint64(key[8:]),
	}, nil
}

// Subject is the fingerprint of key in namespace. The namespace's length
// goes first, so that no two pairs run together.
func (id Identity) Subject(namespace, key string) limiter.Subject {
	var b [256]byte
	buf := binary.LittleEndian.AppendUint16(b[:0], uint16(len(namespace)))
	buf = append(buf, namespace...)
	buf = append(buf, key...)
	hi, lo := siphash.Hash128(id.k0, id.k1, buf)
	return limiter.Subject{Hi: hi, Lo: lo}
}

// Check is a number that equals another node's only if both have the same
// key, and tells nothing of the key.
func (id Identity) Check() uint64 {
	return siphash.Hash(id.k0, id.k1, []byte("murmurate identity check"))
}
