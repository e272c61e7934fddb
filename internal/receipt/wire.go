package receipt

import (
	"encoding/binary"
	"time"

	"github.com/murmurate/murmurate/internal/token"
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
	b = token.AppendText(b, r.Node)
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
	b = token.AppendText(b, p.Policy)
	b = append(b, byte(len(p.Limits)))
	for i := range p.Limits {
		var err error
		b = append(token.AppendText(b, p.Limits[i].Name), byte(p.Limits[i].Unit))
		if b, err = transport.AppendLimit(b, &p.Limits[i]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendPair(b []byte, hi, lo uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, hi), lo)
}

// decode reads what encode wrote.
func (s *Signer) decode(b []byte) (*Receipt, bool) {
	d := token.Reader{Rest: b}
	if d.Uint8() != version {
		return nil, false
	}
	r := new(Receipt)
	r.ID.Hi, r.ID.Lo = d.Uint64(), d.Uint64()
	r.Expires = time.UnixMilli(int64(d.Uvarint()))
	r.Node = d.Text()
	r.Parts = make([]Part, d.Uint8())
	for i := range r.Parts {
		readPart(&d, &r.Parts[i], &s.limits)
		if d.Bad {
			return nil, false
		}
	}
	return r, !d.Bad && len(d.Rest) == 0
}

// readPart reads one part.
func readPart(d *token.Reader, p *Part, limits *transport.LimitReader) {
	p.Subject.Hi, p.Subject.Lo = d.Uint64(), d.Uint64()
	place := d.Uint8()
	p.Place, p.Shadow = Place(place&^flagShadow), place&flagShadow != 0
	p.Charged = int64(d.Uvarint())
	p.Policy = d.Text()
	n := int(d.Uint8())
	d.Bad = d.Bad || p.Place > Share || p.Charged < 0 || n < 1 || n > limiter.MaxCharges
	for !d.Bad && len(p.Limits) < n {
		name, unit := d.Text(), limiter.Unit(d.Uint8())
		var l limiter.Limit
		rest, ok := limits.Read(d.Rest, &l)
		l.Name, l.Unit, d.Rest = name, unit, rest
		d.Bad = d.Bad || !ok || l.Validate() != nil
		p.Limits = append(p.Limits, l)
	}
}
