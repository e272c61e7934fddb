package murmurate

import (
	"context"
	"net"

	"github.com/murmurate/murmurate/cluster"
)

// Network is where a node listens for others and how it reaches them. An
// application has no need of one: it is for tests, such as those of package
// testcluster, that put whole clusters on a network in memory, with faults.
// Its methods are safe for concurrent use.
type Network interface {
	// ListenGossip listens for membership traffic at addr, which is
	// Options.Gossip: an IP and a port. The node shuts the transport down,
	// with its streams, once or more often.
	ListenGossip(addr string) (cluster.GossipTransport, error)
	// ListenPeer listens for the connections of peers at addr, which is
	// Options.Peer. The listener's address is what others are told, and
	// outlives ctx, which bounds the call.
	ListenPeer(ctx context.Context, addr string) (net.Listener, error)
	// DialPeer opens a connection to the peer port of another node, with
	// "tcp" for the network, as net.Dialer.DialContext does.
	DialPeer(ctx context.Context, network, addr string) (net.Conn, error)
}

// listenPeer opens the peer port. The error says which setting moves it.
func (o *Options) listenPeer(ctx context.Context) (net.Listener, error) {
	var l net.Listener
	var err error
	if o.Network == nil {
		l, err = new(net.ListenConfig).Listen(ctx, "tcp", o.Peer)
	} else {
		l, err = o.Network.ListenPeer(ctx, o.Peer)
	}
	if err != nil {
		return nil, listenError(err, "peer", o.Peer)
	}
	return l, nil
}

// listenGossip opens the gossip port if it is not the machine's, which the
// membership opens itself: nil then.
func (o *Options) listenGossip() (cluster.GossipTransport, error) {
	if o.Network == nil {
		return nil, nil
	}
	t, err := o.Network.ListenGossip(o.Gossip)
	if err != nil {
		return nil, listenError(err, "gossip", o.Gossip)
	}
	return t, nil
}

// shutDown ends a transport that a membership may not have taken over.
func shutDown(t cluster.GossipTransport) error {
	if t == nil {
		return nil
	}
	return t.Shutdown()
}

// dialPeer is how the node reaches peers; nil: as the machine does.
func (o *Options) dialPeer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	if o.Network == nil {
		return nil
	}
	return o.Network.DialPeer
}
