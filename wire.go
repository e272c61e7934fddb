package murmurate

import (
	"context"
	"errors"
	"time"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/transport"
)

// The packages cluster and transport do not know each other. This file joins
// them: what a peer asks goes to the Owner, and what the Router asks of a
// peer goes over the wire.

// peerHandler answers forwarded calls.
type peerHandler struct{ owner *cluster.Owner }

// Handle implements transport.Handler.
func (h peerHandler) Handle(call *limiter.Call, results []limiter.Result) (transport.Code, transport.Later) {
	kept, err := h.owner.Do(call, results)
	if err != nil || kept == nil {
		return codeOf(err), nil
	}
	return transport.CodeOK, func(within time.Duration) transport.Code { return codeOf(kept(within)) }
}

func codeOf(err error) transport.Code {
	switch {
	case err == nil:
		return transport.CodeOK
	case errors.Is(err, cluster.ErrNotOwner):
		return transport.CodeNotOwner
	case errors.Is(err, limiter.ErrFull):
		return transport.CodeFull
	case errors.Is(err, cluster.ErrNotKept):
		return transport.CodeNotKept
	}
	return transport.CodeInvalid
}

// session makes a transport.Client a cluster.Peer.
type session struct{ client *transport.Client }

// Do implements cluster.Peer.
func (s session) Do(ctx context.Context, deadline time.Time, call *limiter.Call, results []limiter.Result) error {
	err := s.client.Do(ctx, deadline, call, results)
	if refused, ok := errors.AsType[*transport.RefusedError](err); ok {
		switch refused.Code {
		case transport.CodeNotOwner:
			return cluster.ErrNotOwner
		case transport.CodeFull:
			return limiter.ErrFull
		case transport.CodeNotKept:
			return cluster.ErrNotKept
		default:
		}
	}
	return err
}

// Reachable implements cluster.Peer.
func (s session) Reachable() bool { return s.client.Reachable() }

// Close implements cluster.Peer.
func (s session) Close() { s.client.Close() }

// placement is the Membership as the transport sees it. The membership opens
// sessions while it starts, before anybody else knows it.
type placement struct {
	known   chan struct{} // closed once members is set
	members *cluster.Membership
}

func (p *placement) set(m *cluster.Membership) {
	p.members = m
	close(p.known)
}

func (p *placement) get() *cluster.Membership {
	<-p.known
	return p.members
}

// Digest implements transport.Placement.
func (p *placement) Digest() uint64 { return p.get().Digest() }

// State implements transport.Placement.
func (p *placement) State() []byte { return p.get().State() }

// Merge implements transport.Placement.
func (p *placement) Merge(state []byte) error { return p.get().Merge(state) }
