package murmurate

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/internal/token"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/transport"
)

// Lease is what Acquire returns; see policy.Lease.
type Lease = policy.Lease

// Acquire takes what r is charged, as Check does, and in each concurrency
// limit that applies a slot, which the lease has until it is released:
//
//	lease, d, err := node.Acquire(ctx, policy.Request{Policy: "api", Key: "user:42"})
//	if lease == nil {
//		return // denied, or wrong: d and err say why
//	}
//	defer lease.Release(ctx)
//
// The node renews the lease at a third of its TTL until it is released or the
// node closes; should the process die, the slots come back by the TTL. A
// lease that could not be renewed in time is lost, and says so (Done).
//
// The lease is nil exactly if the request was not admitted. The errors are
// Check's, and a policy.ErrInput if no policy that applies has a concurrency
// limit. If an owner is out of reach the failure mode decides: local gives a
// slot of this node's share, allow a lease that occupies nothing.
//
// With r.Receipt the other limits are charged an estimate, and with r.Peek beside
// it nothing yet: each must then have one unit. Slots are released, and not
// settled. Without r.Receipt, what r says of Peek is passed over.
func (n *Node) Acquire(ctx context.Context, r policy.Request) (Lease, policy.Decision, error) {
	return n.lease(ctx, &r, false)
}

// lease is Acquire, for one who is patient perhaps: see limiter.Call.
func (n *Node) lease(ctx context.Context, r *policy.Request, patient bool) (Lease, policy.Decision, error) {
	h, d, err := n.acquire(ctx, r, patient)
	if h == nil {
		return nil, d, err
	}
	return n.leases.keep(h), d, err
}

// Grant is Acquire for a holder that is elsewhere, and renews and releases the
// lease itself, by its token, at any node. The errors are Acquire's.
func (n *Node) Grant(ctx context.Context, r policy.Request) (policy.Grant, error) {
	h, d, err := n.acquire(ctx, &r, false)
	if h == nil {
		return policy.Grant{Decision: d}, err
	}
	g := policy.Grant{Decision: d, Token: n.tokenOf(h), TTL: h.ttl}
	if len(g.Token) > token.MaxBytes {
		n.leases.giveBack(h)
		return policy.Grant{}, &policy.InputError{Field: "policy", Detail: "has too many concurrency limits, together with others that apply, to be named by one token"}
	}
	return g, err
}

// acquire returns what the lease of r holds, nil if there is none.
func (n *Node) acquire(ctx context.Context, r *policy.Request, patient bool) (*holding, policy.Decision, error) {
	own := *r
	own.Peek = false
	applied, err := n.Policies().Apply(nil, &own, n.matching(false))
	if err != nil {
		return nil, policy.Decision{}, err
	}
	ttl, err := leaseTTL(&own, applied)
	if err != nil {
		return nil, policy.Decision{}, err
	}
	what := asking{op: limiter.Acquire, patient: patient, free: r.Peek && r.Receipt}
	if what.draft, err = n.draft(&own, applied); err != nil {
		return nil, policy.Decision{}, err
	}
	h := &holding{id: newLeaseID(), ttl: ttl, renewed: time.Now()}
	j := n.prepareJoint(what, applied)
	for _, part := range j.parts {
		part.call.Lease, part.call.TTL = h.id, ttl
	}
	d, err := n.decideJoint(ctx, &own, applied, j)
	n.divide(h, applied, j, d.Allowed)
	if !d.Allowed {
		return nil, d, err
	}
	return h, d, err
}

// divide gives h the slots that it has by j, and back what nobody asked for:
// what was taken for a request that was denied after all, and what an owner may
// have given that did not say so.
func (n *Node) divide(h *holding, applied []policy.Applied, j *joint, allowed bool) {
	back := &holding{id: h.id, ttl: h.ttl, renewed: h.renewed}
	for i := range j.asks {
		ask := &j.asks[i]
		p, ok := partOf(&applied[j.counted[i]], &j.parts[i].call)
		if !ok || !ask.Taken {
			continue
		}
		admitted := ask.Admitted()
		if ask.Err != nil {
			if !notCharged(ask.Err) {
				back.parts = append(back.parts, p)
			}
			if ask.Results[0].Source != limiter.SourceShare {
				continue // admitted without counting, or not at all
			}
			p.share = n.options.Name
		}
		switch {
		case admitted && allowed:
			h.parts = append(h.parts, p)
		case admitted || ask.Err == nil:
			back.parts = append(back.parts, p)
		}
	}
	if len(back.parts) > 0 {
		n.leases.giveBack(back)
	}
}

// notCharged reports whether a call that failed with err has certainly not
// been charged.
func notCharged(err error) bool {
	for _, certain := range []error{
		cluster.ErrNoOwner, cluster.ErrNoSession, cluster.ErrNotOwner, limiter.ErrFull, ErrClosed,
		transport.ErrDown, transport.ErrQueueFull, transport.ErrOldPeer,
	} {
		if errors.Is(err, certain) {
			return true
		}
	}
	_, answered := errors.AsType[*transport.RefusedError](err)
	return answered
}

// leaseTTL is the TTL of a lease for r, or why there can be none.
func leaseTTL(r *policy.Request, applied []policy.Applied) (time.Duration, error) {
	if r.TTL != 0 && r.TTL < limiter.MinPeriod {
		return 0, &policy.InputError{Field: "ttl_ms", Detail: fmt.Sprintf("must be at least %v", limiter.MinPeriod)}
	}
	var shortest time.Duration
	for i := range applied {
		p := applied[i].Plan.Policy()
		for j := range p.Limits {
			l := &p.Limits[j]
			if l.Algorithm != limiter.Concurrency {
				continue
			}
			if r.TTL > l.Period {
				return 0, &policy.InputError{Field: "ttl_ms", Detail: fmt.Sprintf("must be at most %d, the ttl of limit %q of policy %q", l.Period.Milliseconds(), l.Name, p.Name)}
			}
			if shortest == 0 || l.Period < shortest {
				shortest = l.Period
			}
		}
	}
	if shortest == 0 && len(applied) > 0 {
		return 0, &policy.InputError{Field: "policy", Detail: fmt.Sprintf(
			"has no concurrency limit, which acquiring needs: ask with a check, or give policy %q a limit with algorithm concurrency", applied[0].Plan.Policy().Name)}
	}
	return cmp.Or(r.TTL, shortest, limiter.DefaultTTL), nil
}

func newLeaseID() limiter.LeaseID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return limiter.LeaseID{Hi: binary.LittleEndian.Uint64(b[:8]), Lo: binary.LittleEndian.Uint64(b[8:])}
}
