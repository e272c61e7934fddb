package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
)

// The range of membership protocols that this program speaks. Nodes whose
// ranges do not meet do not become members of one cluster.
const (
	protocolMin = 1
	protocolMax = 1
)

// Bounds of what a node says of itself, so that it fits into the 512 bytes
// that memberlist gossips for each member.
const (
	metaFormat      = 1
	maxIDBytes      = 128
	maxAddressBytes = 255
	maxVersionBytes = 64
)

// otherShared is the reason to refuse a node with another Shared.
const otherShared = "has another identity key (cluster.identity_key) or an incompatible version"

// meta is what a node gossips of itself:
//
//	format       1 byte, metaFormat
//	protocols    2 bytes, lowest and highest
//	role, state  1 byte each
//	shared       8 bytes
//	incarnation  8 bytes
//	id, address, version  each a uvarint length and bytes
//
// Integers are big-endian. Bytes after the end belong to later versions and
// are ignored.
type meta struct {
	protocols [2]uint8
	shared    uint64
	Member
}

var roleNumbers = map[Role]byte{RoleOwner: 1, RoleClient: 2}

func (m *meta) encode() []byte {
	b := make([]byte, 0, 64+len(m.ID)+len(m.Address)+len(m.Version))
	b = append(b, metaFormat, m.protocols[0], m.protocols[1], roleNumbers[m.Role], byte(m.State))
	b = binary.BigEndian.AppendUint64(b, m.shared)
	b = binary.BigEndian.AppendUint64(b, m.Incarnation)
	for _, s := range []string{m.ID, m.Address, m.Version} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

var errMeta = errors.New("is not a Murmurate node, or speaks an unknown format")

func decodeMeta(b []byte) (meta, error) {
	d := decoder{b: b}
	if d.byte() != metaFormat {
		return meta{}, errMeta
	}
	m := meta{protocols: [2]uint8{d.byte(), d.byte()}}
	role := d.byte()
	m.State = State(d.byte())
	m.shared = d.uint64()
	m.Incarnation = d.uint64()
	m.ID = string(d.bytes(maxIDBytes))
	m.Address = string(d.bytes(maxAddressBytes))
	m.Version = string(d.bytes(maxVersionBytes))
	for r, n := range roleNumbers {
		if n == role {
			m.Role = r
		}
	}
	_, _, addressErr := net.SplitHostPort(m.Address)
	if d.failed || m.Role == "" || !m.State.known() || !validID(m.ID) || addressErr != nil || m.protocols[0] > m.protocols[1] {
		return meta{}, errMeta
	}
	return m, nil
}

// fits returns why a node with this meta cannot be in one cluster with a
// node of the given Shared, or nil.
func (m *meta) fits(shared uint64) error {
	switch {
	case m.protocols[0] > protocolMax || m.protocols[1] < protocolMin:
		return fmt.Errorf("%s speaks protocols %d to %d, this node %d to %d: the versions are too far apart",
			m.ID, m.protocols[0], m.protocols[1], protocolMin, protocolMax)
	case m.shared != shared:
		return errors.New(m.ID + " " + otherShared)
	}
	return nil
}

// validID reports whether id can name a node.
func validID(id string) bool {
	if id == "" || len(id) > maxIDBytes {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
