package murmurate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// holding is the slots of one lease, wherever they are.
type holding struct {
	id  limiter.LeaseID
	ttl time.Duration
	// renewed is when the slots were last asked for: their owners count the TTL
	// from a moment later. A holding that came with a token has none.
	renewed time.Time
	parts   []leasePart
}

// leasePart is the slots that belong to one policy and key, which are in one
// place.
type leasePart struct {
	policy  string
	subject limiter.Subject
	share   string           // the node of whose share they are; empty: they are at the subject's owner
	charges []limiter.Charge // of concurrency limits, one at least
	names   []string         // of the limits, as decisions have them
}

// errElsewhere is the error of a slot that only another node can renew.
var errElsewhere = errors.New("murmurate: the lease has a slot of another node's share, given while the owner was out of reach")

// partOf is what a lease would hold of call, by which a is charged. ok is false
// if it has no slots.
func partOf(a *policy.Applied, call *limiter.Call) (p leasePart, ok bool) {
	p = leasePart{policy: a.Plan.Policy().Name, subject: call.Subject}
	for i, c := range call.Charges {
		if c.Limit.Algorithm == limiter.Concurrency {
			p.charges = append(p.charges, c)
			p.names = append(p.names, a.Plan.LimitName(i))
		}
	}
	return p, len(p.charges) > 0
}

// tell asks op, a Renew or a Release, of all who have slots of h: of the owners
// as long as a check may take, and not beyond ctx's deadline. The answers are
// in the order of the parts.
func (n *Node) tell(ctx context.Context, op limiter.Op, h *holding) []cluster.Ask {
	asks := make([]cluster.Ask, len(h.parts))
	var away []cluster.Ask // those of owners
	var places []int       // of away, among asks
	for i := range h.parts {
		p := &h.parts[i]
		asks[i] = cluster.Ask{
			Call:    &limiter.Call{Op: op, Subject: p.subject, Charges: p.charges, Lease: h.id, TTL: h.ttl},
			Results: make([]limiter.Result, len(p.charges)),
		}
		switch p.share {
		case "":
			away, places = append(away, asks[i]), append(places, i)
		case n.options.Name:
			asks[i].Err = n.share.Do(asks[i].Call, asks[i].Results)
		default:
			asks[i].Err = fmt.Errorf("%w: renew it at node %q", errElsewhere, p.share)
		}
	}
	n.askAll(ctx, away, func(int) {}) // nothing is known then
	for j, i := range places {
		asks[i] = away[j]
	}
	return asks
}

// renew begins h's TTL anew. policy.ErrLapsed: it has lost slots, and the
// others have been given back. Any other error: it is not known whether all were
// renewed, and worth another try.
func (n *Node) renew(ctx context.Context, h *holding) ([]cluster.Ask, error) {
	asked := time.Now()
	asks := n.tell(ctx, limiter.Renew, h)
	var unknown error
	for i := range asks {
		switch {
		case asks[i].Err != nil:
			unknown = asks[i].Err
		case !asks[i].Admitted():
			n.leases.giveBack(h)
			return asks, policy.ErrLapsed
		}
	}
	if unknown == nil {
		h.renewed = asked
	}
	return asks, unknown
}

// release frees the slots of h. After an error some may be occupied still; it
// is errElsewhere only if another try would not free more.
func (n *Node) release(ctx context.Context, h *holding) (err error) {
	for _, ask := range n.tell(ctx, limiter.Release, h) {
		if ask.Err != nil && (err == nil || errors.Is(err, errElsewhere)) {
			err = ask.Err
		}
	}
	return err
}

// decision is what the answers to a renewal come to, policy by policy.
func (h *holding) decision(asks []cluster.Ask) policy.Decision {
	all := make([]policy.Decision, len(asks))
	for i := range asks {
		all[i] = policy.Held(h.parts[i].policy, h.parts[i].names, asks[i].Results)
	}
	if len(all) == 0 { // nothing is occupied
		return policy.Decision{Result: limiter.Result{Allowed: true, Source: limiter.SourceNone}, Cost: 1}
	}
	return policy.Combine(all[0], all[1:]...)
}
