package token

import "encoding/binary"

// maxText is the longest text in a payload: a byte tells its length.
const maxText = 255

// AppendText appends s behind its length, cut to 255 bytes: the names in tokens
// are shorter.
func AppendText(b []byte, s string) []byte {
	s = s[:min(len(s), maxText)]
	return append(append(b, byte(len(s))), s...)
}

// Reader reads fields off the front of a payload. Numbers are little-endian or
// varints.
type Reader struct {
	// Rest is what follows.
	Rest []byte
	// Bad is set once a field is missing, after which all are zero, and by whoever
	// reads one that makes no sense.
	Bad bool
}

func (r *Reader) take(n int) []byte {
	if n > len(r.Rest) {
		r.Rest, r.Bad = nil, true
		return make([]byte, n)
	}
	b := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return b
}

// Uint8 reads one byte.
func (r *Reader) Uint8() uint8 { return r.take(1)[0] }

// Uint64 reads eight bytes.
func (r *Reader) Uint64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

// Text reads what AppendText wrote.
func (r *Reader) Text() string { return string(r.take(int(r.Uint8()))) }

// Uvarint reads a number of as many bytes as it needs.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.Rest)
	if n <= 0 {
		r.Rest, r.Bad = nil, true
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}
