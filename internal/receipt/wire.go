package receipt

import (
	"encoding/binary"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/transport"
)

// version is the first byte of a receipt. Numbers are little-endian or
// varints, and a text follows its length (uint8):
//
//	version, id (2 x uint64), expiry in Unix ms (uvarint), node, parts (uint8)
//	for each part: subject (2 x uint64), place and flags (uint8), charged
//	(uvarint), policy, limits (uint8)
//	for each limit: name, unit (uint8), and the rest as it travels between nodes
const version = 1

// flagShadow is set beside the place of a part.
const flagShadow = 0x80

func (r *Receipt) encode() ([]byte, error) {
	b := []byte{version}
	b = appendPair(b, r.ID.Hi, r.ID.Lo)
	b = binary.AppendUvarint(b, uint64(r.Expires.UnixMilli()))
	b = appendText(b, r.Node)
	b = append(b, byte(len(r.Parts)))
	for i := range r.Parts {
		var err error
		if b, err = r.Parts[i].append(b); err != nil {
			return nil, err
		}
	}
	if len(r.Parts) > 255 || len(b) > maxBytes {
		return nil, ErrTooLong
	}
	return b, nil
}

func (p *Part) append(b []byte) ([]byte, error) {
	place := byte(p.Place)
	if p.Shadow {
		place |= flagShadow
	}
	b = appendPair(b, p.Subject.Hi, p.Subject.Lo)
	b = binary.AppendUvarint(append(b, place), uint64(p.Charged))
	b = appendText(b, p.Policy)
	b = append(b, byte(len(p.Limits)))
	for i := range p.Limits {
		var err error
		b = append(appendText(b, p.Limits[i].Name), byte(p.Limits[i].Unit))
		if b, err = transport.AppendLimit(b, &p.Limits[i]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendPair(b []byte, hi, lo uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, hi), lo)
}

// appendText writes s, cut to 255 bytes: the names in receipts are shorter.
func appendText(b []byte, s string) []byte {
	s = s[:min(len(s), 255)]
	return append(append(b, byte(len(s))), s...)
}

// decode reads what encode wrote.
func (s *Signer) decode(b []byte) (*Receipt, bool) {
	d := decoder{rest: b}
	if d.uint8() != version {
		return nil, false
	}
	r := new(Receipt)
	r.ID.Hi, r.ID.Lo = d.uint64(), d.uint64()
	r.Expires = time.UnixMilli(int64(d.uvarint()))
	r.Node = d.text()
	r.Parts = make([]Part, d.uint8())
	for i := range r.Parts {
		d.part(&r.Parts[i], &s.limits)
		if d.bad {
			return nil, false
		}
	}
	return r, !d.bad && len(d.rest) == 0
}

// decoder reads fields off the front of a receipt. Once a field is missing or
// makes no sense it is bad.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) part(p *Part, limits *transport.LimitReader) {
	p.Subject.Hi, p.Subject.Lo = d.uint64(), d.uint64()
	place := d.uint8()
	p.Place, p.Shadow = Place(place&^flagShadow), place&flagShadow != 0
	p.Charged = int64(d.uvarint())
	p.Policy = d.text()
	n := int(d.uint8())
	d.bad = d.bad || p.Place > Share || p.Charged < 0 || n < 1 || n > limiter.MaxCharges
	for !d.bad && len(p.Limits) < n {
		name, unit := d.text(), limiter.Unit(d.uint8())
		var l limiter.Limit
		rest, ok := limits.Read(d.rest, &l)
		l.Name, l.Unit, d.rest = name, unit, rest
		d.bad = d.bad || !ok || l.Validate() != nil
		p.Limits = append(p.Limits, l)
	}
}

func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		d.rest, d.bad = nil, true
		return make([]byte, n)
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uint8() uint8 { return d.take(1)[0] }

func (d *decoder) uint64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

func (d *decoder) text() string { return string(d.take(int(d.uint8()))) }

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.rest, d.bad = nil, true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}
