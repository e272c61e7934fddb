package murmurate

import (
	"context"

	"github.com/murmurate/murmurate/internal/receipt"
)

// maxSettling bounds the settlements that wait for other nodes while nobody
// waits for them.
const maxSettling = 256

// SettleSoon is Settle for callers who do not wait for other nodes, such as a
// request that has been served. What this node counts itself is settled when
// it returns, and the rest by the time that the node has closed; where 256
// such settlements are under way already, it is as Settle. What cannot be
// settled is logged, and stays as it was estimated.
func (n *Node) SettleSoon(receiptText string, actual int64) {
	r, err := n.settleable(receiptText, actual)
	if err != nil {
		n.outages.unsettled(err)
		return
	}
	settle := func() {
		if _, err := n.settle(context.Background(), r, actual); err != nil {
			n.outages.unsettled(err)
		}
	}
	if n.countsAll(r) {
		settle()
		return
	}
	select {
	case n.settling <- struct{}{}:
		go func() {
			defer func() { <-n.settling }()
			settle()
		}()
	default:
		settle()
	}
}

// countsAll reports whether this node needs no other to settle r.
func (n *Node) countsAll(r *receipt.Receipt) bool {
	v := n.view()
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Place == receipt.Owner && v.OwnerID(p.Subject) != n.options.Name {
			return false
		}
	}
	return true
}

// endSettling waits for the settlements under way, and lets none begin after
// that that nobody waits for.
func (n *Node) endSettling(ctx context.Context) error {
	for range cap(n.settling) {
		select { // first, so that nothing to wait for takes no time
		case n.settling <- struct{}{}:
			continue
		default:
		}
		select {
		case n.settling <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
