package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The protocol versions that this package speaks. Both ends use the highest
// that they have in common. Version 2 brought holds: three operations, and in
// a result whether it was contended. Version 3 brought concurrency limits and
// the four operations of their leases, receipts (their ids in calls, and the
// operation that settles), quotas, durable counters, cool-downs (in a call, and
// in a result whether it is cooling), and the feed.
const (
	minProtocol, maxProtocol = 1, 3

	protocolHolds = 2
	protocolV3    = 3
)

// magic opens every hello, so that a stray connection is told apart from a
// peer of another version.
const magic = 0x4d524d54

// hello is the first frame of either side.
type hello struct {
	Identity
	min, max uint8  // protocol versions
	wanted   string // id that the client expects to reach; empty: any
}

func newHello(self Identity, wanted string) *hello {
	return &hello{Identity: self, min: minProtocol, max: maxProtocol, wanted: wanted}
}

func encodeHello(h *hello) []byte {
	b := openFrame(nil, frameHello)
	b = binary.LittleEndian.AppendUint32(b, magic)
	b = append(b, h.min, h.max)
	b = binary.LittleEndian.AppendUint64(b, h.Cluster)
	b = binary.LittleEndian.AppendUint64(b, h.Incarnation)
	b = appendShort(b, h.ID)
	b = appendShort(b, h.Version)
	b = appendShort(b, h.wanted)
	return closeFrame(b, 0)
}

// decodeHello ignores what later versions append.
func decodeHello(body []byte) (*hello, error) {
	d := decoder{rest: body}
	if m := d.take(4); d.bad || binary.LittleEndian.Uint32(m) != magic {
		return nil, fmt.Errorf("%w: not a hello", errMalformed)
	}
	h := &hello{min: d.uint8(), max: d.uint8()}
	h.Cluster, h.Incarnation = d.uint64(), d.uint64()
	h.ID, h.Version, h.wanted = string(d.short()), string(d.short()), string(d.short())
	if d.bad || h.ID == "" || h.min > h.max {
		return nil, fmt.Errorf("%w: hello", errMalformed)
	}
	return h, nil
}

// readHello reads the first frame of a connection.
func readHello(in *frameReader) (kind, []byte, error) {
	k, body, _, err := in.next()
	if errors.Is(err, errMalformed) {
		err = fmt.Errorf("%w: %w", errNotPeer, err)
	}
	return k, body, explain(err)
}

func encodeRefusal(r *refusal) []byte {
	b := append(openFrame(nil, frameRefuse), byte(r.reason))
	b = binary.AppendUvarint(b, uint64(len(r.detail)))
	return closeFrame(append(b, r.detail...), 0)
}

// printable is what may be shown of a text from elsewhere.
func printable(text []byte) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return utf8.RuneError
		}
		return c
	}, string(text))
}

func decodeRefusal(body []byte) (*refusal, error) {
	d := decoder{rest: body}
	r := &refusal{reason: reason(d.uint8()), remote: true}
	r.detail = printable(d.take(d.uvarint()))
	if d.bad {
		return nil, fmt.Errorf("%w: refusal", errMalformed)
	}
	return r, nil
}
