package testcluster

import (
	"context"
	"net"
	"net/netip"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/internal/memnet"
)

// network is a host as a node's murmurate.Network.
type network struct{ host *memnet.Host }

// ListenGossip implements murmurate.Network.
func (n network) ListenGossip(addr string) (cluster.GossipTransport, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	return n.host.ListenGossip(at.Port())
}

// ListenPeer implements murmurate.Network.
func (n network) ListenPeer(_ context.Context, addr string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	return n.host.Listen(at.Port())
}

// DialPeer implements murmurate.Network.
func (n network) DialPeer(ctx context.Context, network, addr string) (net.Conn, error) {
	return n.host.DialContext(ctx, network, addr)
}
