package transport

import (
	"encoding/binary"
	"errors"
)

// errMalformed ends a connection: what follows a frame that cannot be read
// cannot be trusted either.
var errMalformed = errors.New("malformed frame")

// decoder reads fields off the front of a frame. After the first field that
// is missing or overlong it is bad, and every field reads as zero, so a
// caller checks once at the end.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) fail() {
	d.rest, d.bad = nil, true
}

// whole reports that every field was there and nothing is left over.
func (d *decoder) whole() bool { return !d.bad && len(d.rest) == 0 }

// take returns the next n bytes, which alias the frame.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uint8() uint8 {
	if len(d.rest) == 0 {
		d.fail()
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) uint64() uint64 {
	b := d.take(8)
	if d.bad {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// short reads a string of at most 255 bytes behind its length.
func (d *decoder) short() []byte { return d.take(uint64(d.uint8())) }

// appendShort writes s, cut to 255 bytes, behind its length.
func appendShort(b []byte, s string) []byte {
	s = s[:min(len(s), 255)]
	return append(append(b, byte(len(s))), s...)
}
