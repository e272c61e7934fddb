package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// The placement on the wire:
//
//	version      1 byte, placementVersion
//	shared       8 bytes, what all members must share
//	count        uvarint, at most maxPlacement
//	count times, ids strictly ascending:
//	  id         uvarint length, bytes
//	  incarnation uvarint
//	  state      1 byte
//	  age        uvarint, milliseconds, only of members that are gone
//
// Integers are big-endian. Nothing may follow.
const (
	placementVersion = 1
	// maxPlacement bounds the members and tombstones of one placement.
	maxPlacement = 16384
)

// ErrPlacement is every placement that cannot be merged. Nothing was changed.
var ErrPlacement = errors.New("invalid placement")

func placementError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrPlacement}, args...)...)
}

// encodePlacement returns the wire form of entries, whose ids ascend.
func encodePlacement(shared uint64, entries []placed) []byte {
	b := make([]byte, 0, 16+32*len(entries))
	b = append(b, placementVersion)
	b = binary.BigEndian.AppendUint64(b, shared)
	b = binary.AppendUvarint(b, uint64(len(entries)))
	for _, e := range entries {
		b = binary.AppendUvarint(b, uint64(len(e.id)))
		b = append(b, e.id...)
		b = binary.AppendUvarint(b, e.incarnation)
		b = append(b, byte(e.state))
		if e.state.gone() {
			b = binary.AppendUvarint(b, uint64(e.age.Milliseconds()))
		}
	}
	return b
}

// decodePlacement is the inverse of encodePlacement for the given shared.
func decodePlacement(shared uint64, b []byte) ([]placed, error) {
	d := decoder{b: b}
	if v := d.byte(); !d.failed && v != placementVersion {
		return nil, placementError("version %d, this node speaks %d", v, placementVersion)
	}
	if s := d.uint64(); !d.failed && s != shared {
		return nil, placementError("%s", otherShared)
	}
	count := d.uvarint()
	if count > maxPlacement {
		return nil, placementError("%d members, at most %d", count, maxPlacement)
	}
	var entries []placed
	for range count {
		e := placed{id: string(d.bytes(maxIDBytes))}
		e.incarnation = d.uvarint()
		e.state = State(d.byte())
		if e.state.gone() {
			// Beyond its life the exact age of a tombstone says nothing more.
			ms := min(d.uvarint(), uint64(tombstoneLife.Milliseconds()))
			e.age = time.Duration(ms) * time.Millisecond
		}
		switch {
		case d.failed:
			return nil, placementError("cut short")
		case !validID(e.id):
			return nil, placementError("member id %q", e.id)
		case len(entries) > 0 && e.id <= entries[len(entries)-1].id:
			return nil, placementError("members out of order at %q", e.id)
		case !e.state.known():
			return nil, placementError("member %s in unknown %v", e.id, e.state)
		}
		entries = append(entries, e)
	}
	if d.failed || len(d.b) > 0 {
		return nil, placementError("cut short, or bytes after the end")
	}
	return entries, nil
}
