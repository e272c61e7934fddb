package cluster

import "encoding/binary"

// decoder takes fields off the front of b. After a field that is cut short
// or out of bounds, failed is set and everything reads as zero.
type decoder struct {
	b      []byte
	failed bool
}

func (d *decoder) take(n int) []byte {
	if d.failed || n > len(d.b) {
		d.failed, d.b = true, nil
		return nil
	}
	field := d.b[:n]
	d.b = d.b[n:]
	return field
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.failed, d.b = true, nil
		return 0
	}
	d.take(n)
	return v
}

// bytes reads a uvarint length of at most limit and as many bytes.
func (d *decoder) bytes(limit int) []byte {
	n := d.uvarint()
	if n > uint64(limit) {
		d.failed, d.b = true, nil
		return nil
	}
	return d.take(int(n))
}
