package murmurate

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/murmurate/murmurate/internal/token"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// A lease's token holds, in this order: the version of this form, the lease's
// id, its TTL in ns (uvarint), and for each part the policy's name, the subject,
// the name of the node of whose share it is, and the number of limits with, for
// each, its tag, count, period in ns (uvarints) and name. Names are as long as
// the byte before them says. It tells nothing of the key but its fingerprint.
const leaseTokenVersion = 1

// Renew begins the TTL anew of a lease that Grant made, at any node, and makes
// it ttl; 0 is what it was. Its Token stays the same.
//
// policy.ErrInput: the token is none, or ttl is longer than a limit permits.
// policy.ErrLapsed: the lease has lost its slots, for good. Any other error: a
// node that has a slot is out of reach, and the lease holds until its TTL has
// passed since the last renewal; try again before that.
func (n *Node) Renew(ctx context.Context, text string, ttl time.Duration) (policy.Grant, error) {
	h, err := n.openToken(text)
	if err != nil {
		return policy.Grant{}, err
	}
	if ttl != 0 {
		if err := h.checkTTL(ttl); err != nil {
			return policy.Grant{}, err
		}
		h.ttl = ttl
	}
	asks, err := n.renew(ctx, h)
	if err != nil {
		return policy.Grant{}, err
	}
	return policy.Grant{Decision: h.decision(asks), Token: text, TTL: h.ttl}, nil
}

// Release frees the slots of a lease by its token, at any node, and reports
// whether it is known to have none any more. If a node that has one is out of
// reach this node asks it again in the background, and the slot comes back by
// its TTL at the latest. To release again does nothing. The error is a
// policy.ErrInput: the token is none.
func (n *Node) Release(ctx context.Context, text string) (released bool, err error) {
	h, err := n.openToken(text)
	if err != nil {
		return false, err
	}
	h.renewed = time.Now() // at the latest
	err = n.release(context.WithoutCancel(ctx), h)
	if err != nil {
		n.leases.giveBack(h)
	}
	return err == nil, nil
}

func (h *holding) checkTTL(ttl time.Duration) error {
	if ttl < limiter.MinPeriod {
		return &policy.InputError{Field: "ttl_ms", Detail: fmt.Sprintf("must be at least %v", limiter.MinPeriod)}
	}
	for i := range h.parts {
		for j, c := range h.parts[i].charges {
			if ttl > c.Limit.Period {
				return &policy.InputError{Field: "ttl_ms", Detail: fmt.Sprintf("must be at most %d, the ttl of limit %q", c.Limit.Period.Milliseconds(), h.parts[i].names[j])}
			}
		}
	}
	return nil
}

// tokenOf names h to the other nodes.
func (n *Node) tokenOf(h *holding) string { return n.tokens.Sign(token.Lease, h.encode()) }

// openToken is what tokenOf was given.
func (n *Node) openToken(text string) (*holding, error) {
	payload, err := n.tokens.Open(token.Lease, text)
	if err == nil {
		if h, ok := decodeHolding(payload); ok {
			return h, nil
		}
		err = token.ErrInvalid
	}
	return nil, &policy.InputError{Field: "lease", Detail: "is not what this cluster gave: " + err.Error()}
}

func (h *holding) encode() []byte {
	b := []byte{leaseTokenVersion}
	b = binary.LittleEndian.AppendUint64(b, h.id.Hi)
	b = binary.LittleEndian.AppendUint64(b, h.id.Lo)
	b = binary.AppendUvarint(b, uint64(h.ttl))
	for i := range h.parts {
		p := &h.parts[i]
		b = token.AppendText(b, p.policy)
		b = binary.LittleEndian.AppendUint64(b, p.subject.Hi)
		b = binary.LittleEndian.AppendUint64(b, p.subject.Lo)
		b = token.AppendText(b, p.share)
		b = append(b, byte(len(p.charges)))
		for j, c := range p.charges {
			b = binary.LittleEndian.AppendUint64(b, c.Tag)
			b = binary.AppendUvarint(b, uint64(c.Limit.Count))
			b = binary.AppendUvarint(b, uint64(c.Limit.Period))
			b = token.AppendText(b, p.names[j])
		}
	}
	return b
}

// decodeHolding reads what encode wrote. ok is false for anything else.
func decodeHolding(b []byte) (h *holding, ok bool) {
	d := token.Reader{Rest: b}
	if d.Uint8() != leaseTokenVersion {
		return nil, false
	}
	h = &holding{id: limiter.LeaseID{Hi: d.Uint64(), Lo: d.Uint64()}, ttl: time.Duration(d.Uvarint())}
	for len(d.Rest) > 0 {
		p := leasePart{policy: d.Text(), subject: limiter.Subject{Hi: d.Uint64(), Lo: d.Uint64()}, share: d.Text()}
		n := int(d.Uint8())
		if n == 0 || n > limiter.MaxCharges {
			return nil, false
		}
		for range n {
			l := &limiter.Limit{Algorithm: limiter.Concurrency}
			c := limiter.Charge{Limit: l, Tag: d.Uint64(), Cost: 1}
			l.Count, l.Period = int64(d.Uvarint()), time.Duration(d.Uvarint())
			p.charges, p.names = append(p.charges, c), append(p.names, d.Text())
			if l.Validate() != nil {
				return nil, false
			}
		}
		h.parts = append(h.parts, p)
	}
	return h, !d.Bad && h.id != limiter.LeaseID{} && h.ttl > 0
}
