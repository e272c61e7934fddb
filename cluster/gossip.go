package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/memberlist"
)

// streamTimeout bounds the dialling, and the reading, of a gossip stream.
const streamTimeout = 2 * time.Second

// gossipConfig is memberlist's configuration without its delegates.
// memberlist discovers members and spreads what they say of themselves,
// nothing else.
func gossipConfig(o *MembershipOptions, name string, a addresses, transport memberlist.Transport) *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	c.Name = name
	c.Label = o.Label
	c.SecretKey = o.GossipKey
	c.Transport = transport
	c.BindAddr = a.bind.Addr().String()
	c.BindPort = int(a.advertise.Port())
	// memberlist takes them from elsewhere unless both are set.
	c.AdvertiseAddr = a.advertise.Addr().String()
	c.AdvertisePort = int(a.advertise.Port())
	c.EnableCompression = false
	c.SuspicionMaxTimeoutMult = 2
	c.GossipInterval = 100 * time.Millisecond
	c.PushPullInterval = 10 * time.Second
	c.TCPTimeout = streamTimeout
	c.Logger = newGossipLogger(o.Logger)
	return c
}

// freePortTries is how often a port that is free for TCP is looked for until
// it is free for UDP too.
const freePortTries = 10

// listenGossip binds the gossip port and returns the addresses with the port
// that was bound. The error of a bind wraps the *net.OpError.
func listenGossip(ctx context.Context, o *MembershipOptions, a addresses) (memberlist.Transport, addresses, error) {
	tries := 1
	if a.bind.Port() == 0 {
		tries = freePortTries
	}
	var nt *memberlist.NetTransport
	var err error
	for range tries {
		nt, err = memberlist.NewNetTransport(&memberlist.NetTransportConfig{
			BindAddrs: []string{a.bind.Addr().String()},
			BindPort:  int(a.bind.Port()),
			Logger:    newGossipLogger(o.Logger),
		})
		if err == nil {
			a = a.bound(uint16(nt.GetAutoBindPort()))
			return newNetTransport(ctx, o.Logger, nt), a, nil
		}
	}
	return nil, a, bindError(ctx, a.bind, err)
}

// bound returns a with the port that was bound in place of "any".
func (a addresses) bound(port uint16) addresses {
	a.bind = netip.AddrPortFrom(a.bind.Addr(), port)
	if a.advertise.Port() == 0 {
		a.advertise = netip.AddrPortFrom(a.advertise.Addr(), port)
	}
	return a
}

// bindError says what to do about a port that cannot be bound. memberlist
// keeps the cause only as text, so the bind is tried once more for its error.
func bindError(ctx context.Context, addr netip.AddrPort, text error) error {
	cause := tryBind(ctx, addr)
	if cause == nil {
		cause = text
	}
	advice := "is this an address of this host?"
	if errors.Is(cause, syscall.EADDRINUSE) || strings.Contains(text.Error(), syscall.EADDRINUSE.Error()) {
		advice = "another program uses it"
	}
	return fmt.Errorf("cannot listen for gossip on %s: %w (%s; choose another with cluster.gossip or --gossip)", addr, cause, advice)
}

func tryBind(ctx context.Context, addr netip.AddrPort) error {
	var lc net.ListenConfig
	tcp, err := lc.Listen(ctx, "tcp", addr.String())
	if err != nil {
		return err
	}
	udp, err := lc.ListenPacket(ctx, "udp", addr.String())
	if err != nil {
		return errors.Join(err, tcp.Close())
	}
	return errors.Join(udp.Close(), tcp.Close())
}
