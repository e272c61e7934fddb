package murmurate

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"time"

	"github.com/murmurate/murmurate/internal/receipt"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// draft is a receipt that is not given out yet. A nil draft belongs to a
// request that asks for none.
type draft struct{ receipt.Receipt }

// draft begins the receipt that r asks for, before anything is charged: what
// was charged must have one.
func (n *Node) draft(r *policy.Request, applied []policy.Applied) (*draft, error) {
	if !r.Receipt {
		return nil, nil
	}
	d := &draft{receipt.Receipt{
		ID:      newReceiptID(),
		Expires: time.Now().Add(limiter.ReceiptLife),
		Node:    n.options.Name,
	}}
	for i := range applied {
		if a := &applied[i]; !a.Exempt && !a.Unlimited && !a.Blocked {
			p := a.Plan.Policy()
			d.Parts = append(d.Parts, receipt.Part{
				Policy: p.Name, Shadow: p.Shadow, Subject: n.subject(a, false), Charged: a.Cost, Limits: settleable(p.Limits),
			})
		}
	}
	if err := d.Fits(); err != nil {
		return nil, &policy.InputError{Field: "receipt", Detail: err.Error()}
	}
	return d, nil
}

func newReceiptID() limiter.ReceiptID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return limiter.ReceiptID{Hi: binary.LittleEndian.Uint64(b[:8]), Lo: binary.LittleEndian.Uint64(b[8:])}
}

// settleable are those of limits that have units: a slot is released, whatever
// its holder has cost.
func settleable(limits []limiter.Limit) []limiter.Limit {
	return slices.DeleteFunc(slices.Clone(limits), func(l limiter.Limit) bool { return l.Algorithm == limiter.Concurrency })
}

// finish gives the decision its receipt, unless it denies. parts are the
// answered calls of those policies that were counted, in order.
func (n *Node) finish(what asking, decision *policy.Decision, parts ...*scratch) {
	d := what.draft
	if d == nil || !decision.Allowed {
		return
	}
	for i, s := range parts {
		p := &d.Parts[i]
		p.Place = placeOf(s.results)
		if !what.charges() {
			p.Charged = 0
		}
	}
	d.Parts = slices.DeleteFunc(d.Parts, func(p receipt.Part) bool { return len(p.Limits) == 0 })
	decision.Receipt, _ = n.receipts.Sign(&d.Receipt) // the draft did fit
}

// placeOf says who made the charge that results answer. A policy in shadow
// that denies has charged nothing, and nor has a failure mode.
func placeOf(results []limiter.Result) receipt.Place {
	denied := slices.ContainsFunc(results, func(r limiter.Result) bool { return !r.Allowed })
	switch source := results[0].Source; {
	case denied:
		return receipt.Nobody
	case source == limiter.SourceOwner:
		return receipt.Owner
	case source == limiter.SourceShare:
		return receipt.Share
	}
	return receipt.Nobody
}
