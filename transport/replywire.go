package transport

import (
	"encoding/binary"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// A frameReplies is the sender's digest (uint64) and then, for each reply,
// the slot of the call (uvarint), the code (uint8) and, for CodeOK, the
// number of results (uint8) and the results.

func appendReply(b []byte, slot uint64, code Code, results []limiter.Result) []byte {
	b = binary.AppendUvarint(b, slot)
	b = append(b, byte(code))
	if code != CodeOK {
		return b
	}
	b = append(b, byte(len(results)))
	for i := range results {
		b = appendResult(b, &results[i])
	}
	return b
}

// reply is a decoded reply; its space is reused from reply to reply.
type reply struct {
	slot    uint64
	code    Code
	results []limiter.Result
	space   [limiter.MaxCharges]limiter.Result
}

// next reads a reply. Ask for it while d.rest is not empty.
func (r *reply) next(d *decoder) error {
	r.slot, r.code, r.results = d.uvarint(), Code(d.uint8()), nil
	if r.code == CodeOK {
		n := int(d.uint8())
		if n > limiter.MaxCharges {
			return errMalformed
		}
		r.results = r.space[:n]
		for i := range r.results {
			decodeResult(d, &r.results[i])
		}
	}
	if d.bad {
		return errMalformed
	}
	return nil
}

// The first byte of a result; 0 is a denial. Protocol 1 reads whatever is not
// an admission as a denial.
const (
	flagAllowed   = 1
	flagContended = 2 // a denial that only open holds cause
	flagCooling   = 3 // a denial that begins a cool-down or falls into one
)

func appendResult(b []byte, r *limiter.Result) []byte {
	var flags byte
	switch {
	case r.Allowed:
		flags = flagAllowed
	case r.Contended:
		flags = flagContended
	case r.Cooling:
		flags = flagCooling
	}
	b = append(b, flags, byte(r.Source))
	b = binary.AppendUvarint(b, uint64(r.Limit))
	b = binary.AppendUvarint(b, uint64(r.Remaining))
	b = binary.AppendVarint(b, int64(r.RetryAfter))
	b = binary.AppendVarint(b, int64(r.NextUnit))
	b = binary.AppendVarint(b, int64(r.ResetAfter))
	return binary.AppendVarint(b, int64(r.Delay))
}

func decodeResult(d *decoder, r *limiter.Result) {
	flags := d.uint8()
	r.Allowed, r.Contended, r.Cooling = flags == flagAllowed, flags == flagContended, flags == flagCooling
	r.Source = limiter.Source(d.uint8())
	r.Limit = int64(d.uvarint())
	r.Remaining = int64(d.uvarint())
	r.RetryAfter = time.Duration(d.varint())
	r.NextUnit = time.Duration(d.varint())
	r.ResetAfter = time.Duration(d.varint())
	r.Delay = time.Duration(d.varint())
}
