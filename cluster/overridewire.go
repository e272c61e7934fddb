package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Overrides on the wire and on disk:
//
//	version      1 byte, overrideFormat
//	then, until the end:
//	  subject    16 bytes
//	  counter    uvarint
//	  node       uvarint length, bytes
//	  ended      1 byte, 0 or 1
//	  time       uvarint, milliseconds: since it ended, or until it will, 0 for never
//	  value      uvarint length, bytes; only of one that has not ended
//
// Integers are big-endian.
const (
	overrideFormat = 1
	// MaxOverrideBytes bounds the value of an override.
	MaxOverrideBytes = 8 << 10
	// maxCounter leaves room for the versions after the highest that is taken
	// from others.
	maxCounter = math.MaxUint64 / 2
	// maxOverrideTime bounds both times, so that sums of them stay durations.
	maxOverrideTime = 100 * 365 * 24 * time.Hour
)

// errOverrides is every message about overrides that cannot be read. Nothing
// of it was taken in.
var errOverrides = errors.New("invalid overrides")

func appendOverride(b []byte, s *saidOverride) []byte {
	b = appendSubject(b, s.subject)
	b = binary.AppendUvarint(b, s.counter)
	b = binary.AppendUvarint(b, uint64(len(s.node)))
	b = append(b, s.node...)
	if s.ended {
		return appendMilliseconds(append(b, 1), s.age)
	}
	b = appendMilliseconds(append(b, 0), s.left)
	b = binary.AppendUvarint(b, uint64(len(s.value)))
	return append(b, s.value...)
}

func appendSubject(b []byte, s limiter.Subject) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, s.Hi), s.Lo)
}

// appendMilliseconds rounds up, so that nothing ends early and what has any
// time left does not become 0, which means never.
func appendMilliseconds(b []byte, d time.Duration) []byte {
	return binary.AppendUvarint(b, uint64((d+time.Millisecond-1)/time.Millisecond))
}

// decodeOverrides reads a message.
func decodeOverrides(b []byte) ([]saidOverride, error) {
	d := decoder{b: b}
	if v := d.byte(); d.failed || v != overrideFormat {
		return nil, fmt.Errorf("%w: format %d, this node speaks %d", errOverrides, v, overrideFormat)
	}
	var all []saidOverride
	for len(d.b) > 0 {
		s := d.override()
		switch {
		case d.failed:
			return nil, fmt.Errorf("%w: cut short, or a field out of range", errOverrides)
		case !validID(s.node):
			return nil, fmt.Errorf("%w: node %q", errOverrides, s.node)
		}
		all = append(all, s)
	}
	return all, nil
}

func (d *decoder) override() saidOverride {
	s := saidOverride{subject: limiter.Subject{Hi: d.uint64(), Lo: d.uint64()}}
	s.counter = d.uvarint()
	s.node = string(d.bytes(maxIDBytes))
	ended := d.byte()
	if s.counter > maxCounter || ended > 1 {
		d.failed = true
	}
	ms := d.uvarint()
	if ms > uint64(maxOverrideTime/time.Millisecond) {
		d.failed = true
	}
	if s.ended = ended == 1; s.ended {
		s.age = time.Duration(ms) * time.Millisecond
		return s
	}
	s.left = time.Duration(ms) * time.Millisecond
	s.value = slices.Clone(d.bytes(MaxOverrideBytes))
	return s
}
