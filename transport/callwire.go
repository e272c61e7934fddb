package transport

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// A frameCalls is the sender's digest (uint64) and then, for each call, its
// slot (uvarint), the time left in microseconds (uvarint), and the length of
// the call (uvarint) before the call itself: a call that the server cannot
// understand does not spoil the rest.

// flagReceipt is set in the op of a call that has a receipt's id. See
// flagCooldowns for the other one.
const flagReceipt = 0x40

// hasReceipt reports whether the call has the id of a receipt, or lacks it
// although it should.
func hasReceipt(call *limiter.Call) bool {
	return call.Op == limiter.Settle || call.Receipt != limiter.ReceiptID{}
}

// appendCall writes what a call asks, its cool-downs left out. It does not
// depend on when it is sent.
func appendCall(b []byte, call *limiter.Call) ([]byte, error) {
	if n := len(call.Charges); n == 0 || n > limiter.MaxCharges {
		return b, fmt.Errorf("transport: a call has 1 to %d limits, not %d", limiter.MaxCharges, n)
	}
	op := byte(call.Op)
	if hasReceipt(call) {
		op |= flagReceipt
	}
	b = append(b, op)
	b = binary.LittleEndian.AppendUint64(b, call.Subject.Hi)
	b = binary.LittleEndian.AppendUint64(b, call.Subject.Lo)
	if call.Op.OfHold() {
		b = binary.LittleEndian.AppendUint64(b, call.Hold.Hi)
		b = binary.LittleEndian.AppendUint64(b, call.Hold.Lo)
	}
	if call.Op.OfLease() {
		b = binary.LittleEndian.AppendUint64(b, call.Lease.Hi)
		b = binary.LittleEndian.AppendUint64(b, call.Lease.Lo)
		b = binary.AppendUvarint(b, uint64(call.TTL))
	}
	if call.Op == limiter.Hold {
		b = binary.AppendUvarint(b, uint64(call.Lapse))
	}
	if hasReceipt(call) {
		b = binary.LittleEndian.AppendUint64(b, call.Receipt.Hi)
		b = binary.LittleEndian.AppendUint64(b, call.Receipt.Lo)
	}
	if call.Op == limiter.Settle {
		b = binary.AppendUvarint(b, uint64(call.Charged))
	}
	b = append(b, byte(len(call.Charges)))
	for i := range call.Charges {
		c := &call.Charges[i]
		b = binary.LittleEndian.AppendUint64(b, c.Tag)
		b = binary.AppendUvarint(b, uint64(c.Cost))
		var err error
		if b, err = AppendLimit(b, c.Limit); err != nil {
			return b, err
		}
	}
	return b, nil
}

// protocolOf is the least version of the protocol in which call can be said,
// its cool-downs left out.
func protocolOf(call *limiter.Call) uint8 {
	if call.Op > limiter.Cancel || hasReceipt(call) {
		return protocolV3
	}
	for i := range call.Charges {
		if l := call.Charges[i].Limit; l.Algorithm > limiter.SlidingLog || l.Durable {
			return protocolV3
		}
	}
	if call.Op >= limiter.Hold {
		return protocolHolds
	}
	return minProtocol
}

// callSpace holds one decoded call; it is reused from call to call.
type callSpace struct {
	call    limiter.Call
	charges [limiter.MaxCharges]limiter.Charge
	limits  [limiter.MaxCharges]limiter.Limit
}

// decode reads a call and reports whether it makes sense. The call is valid
// until the next decode.
func (s *callSpace) decode(body []byte, z *zones) bool {
	d := decoder{rest: body}
	op := d.uint8()
	s.call.Op = limiter.Op(op &^ (flagReceipt | flagCooldowns))
	s.call.Subject = limiter.Subject{Hi: d.uint64(), Lo: d.uint64()}
	s.call.Hold, s.call.Lapse = limiter.HoldID{}, 0
	s.call.Receipt, s.call.Charged = limiter.ReceiptID{}, 0
	if s.call.Op.OfHold() {
		s.call.Hold = limiter.HoldID{Hi: d.uint64(), Lo: d.uint64()}
	}
	s.call.Lease, s.call.TTL = limiter.LeaseID{}, 0
	if s.call.Op.OfLease() {
		s.call.Lease = limiter.LeaseID{Hi: d.uint64(), Lo: d.uint64()}
		s.call.TTL = time.Duration(min(d.uvarint(), uint64(limiter.MaxTTL)))
	}
	if s.call.Op == limiter.Hold {
		s.call.Lapse = time.Duration(min(d.uvarint(), uint64(limiter.MaxLapse)))
	}
	if op&flagReceipt != 0 {
		s.call.Receipt = limiter.ReceiptID{Hi: d.uint64(), Lo: d.uint64()}
	}
	if s.call.Op == limiter.Settle {
		s.call.Charged = int64(d.uvarint())
	}
	n := int(d.uint8())
	if s.call.Op > limiter.Settle || s.call.Charged < 0 || n == 0 || n > limiter.MaxCharges {
		return false
	}
	s.call.Charges = s.charges[:n]
	for i := range s.call.Charges {
		c := &s.call.Charges[i]
		*c = limiter.Charge{Tag: d.uint64(), Cost: int64(d.uvarint()), Limit: &s.limits[i]}
		if !decodeLimit(&d, c.Limit, z) || c.Cost < 0 {
			return false
		}
	}
	s.call.Patient = false
	if op&flagCooldowns != 0 && !decodeCooldowns(&d, &s.call) {
		return false
	}
	return d.whole()
}

// appendEntry writes one call into a frameCalls. left is at least a microsecond.
func appendEntry(b []byte, slot uint32, left time.Duration, call []byte) []byte {
	b = binary.AppendUvarint(b, uint64(slot))
	b = binary.AppendUvarint(b, uint64(left/time.Microsecond))
	b = binary.AppendUvarint(b, uint64(len(call)))
	return append(b, call...)
}

// entry is one call of a frameCalls, not yet decoded.
type entry struct {
	slot uint64
	left time.Duration
	call []byte
}

// maxLeft keeps sums with a time left from overflowing.
const maxLeft = 24 * time.Hour

// nextEntry reads the next call. Ask for it while d.rest is not empty.
func nextEntry(d *decoder) (entry, error) {
	e := entry{slot: d.uvarint()}
	e.left = time.Duration(min(d.uvarint(), uint64(maxLeft/time.Microsecond))) * time.Microsecond
	e.call = d.take(d.uvarint())
	if d.bad {
		return entry{}, errMalformed
	}
	return e, nil
}
