package murmurate

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/ring"
	"github.com/murmurate/murmurate/transport"
)

// gossipKeyBytes selects AES-256 for gossip.
const gossipKeyBytes = 32

// startClustered opens the peer port, joins the gossip, and serves peers.
func (n *Node) startClustered(ctx context.Context) error {
	o := &n.options
	tlsConfig, err := n.peerTLS()
	if err != nil {
		return err
	}
	gossipKey, err := o.gossipKey()
	if err != nil {
		return err
	}
	listener, err := o.listenPeer(ctx)
	if err != nil {
		return err
	}
	if o.Name == "" {
		o.Name = o.defaultName(listener.Addr())
	}
	self := transport.Identity{
		ID:          o.Name,
		Incarnation: uint64(time.Now().UnixNano()),
		Cluster:     o.shared(n.identity),
		Version:     o.Version,
	}
	if err := n.startOverrides(); err != nil {
		return err
	}
	places, err := n.data.lastPlaces()
	if err != nil {
		return err
	}
	known := &placement{known: make(chan struct{})}
	if err := n.listenForPeers(listener, self, known, tlsConfig); err != nil {
		return err
	}
	gossip, err := o.listenGossip()
	if err != nil {
		return err
	}
	var sessions sync.WaitGroup
	n.onClose("sessions", func(ctx context.Context) error { return waitFor(ctx, &sessions) })
	n.members, err = cluster.StartMembership(ctx, cluster.MembershipOptions{
		ID:            o.Name,
		Incarnation:   self.Incarnation,
		Role:          o.Role,
		Version:       o.Version,
		GossipAddress: o.Gossip,
		PeerAddress:   o.advertised(listener.Addr()),
		Advertise:     o.Advertise,
		Join:          o.Join,
		Label:         o.Label,
		GossipKey:     gossipKey,
		Shared:        self.Cluster,
		Connect:       n.connect(self, known, tlsConfig, &sessions),
		EvictAfter:    o.EvictAfter,
		Logger:        o.Logger,
		Transport:     gossip,
		Placement:     places,
		Save:          n.savePlaces(),
	})
	if err != nil {
		return errors.Join(err, shutDown(gossip))
	}
	n.view = n.members.View
	known.set(n.members)
	n.onClose("membership", n.members.Leave)
	if o.Role == cluster.RoleClient {
		n.keepAsking()
	}
	select {
	case <-n.members.OwnersKnown():
		return nil
	case err := <-n.members.Failed():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listenForPeers answers peers from the moment that the placement is known
// until the node closes.
func (n *Node) listenForPeers(listener net.Listener, self transport.Identity, known *placement, tlsConfig *tls.Config) error {
	peers, err := transport.Listen(transport.ServerOptions{
		Listener:  listener,
		Self:      self,
		Handler:   peerHandler{n.owner},
		Placement: known,
		Feed:      n.overrides,
		TLS:       tlsConfig,
		Logger:    n.options.Logger,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	n.peers = peers
	closing, served := make(chan struct{}), make(chan error, 1)
	go func() {
		select {
		case <-known.known:
			served <- peers.Serve()
		case <-closing:
			served <- nil
		}
	}()
	n.onClose("peer port", func(ctx context.Context) error {
		close(closing)
		return errors.Join(peers.Close(ctx), <-served)
	})
	return nil
}

// connect opens the sessions of this node, which open counts until they have
// let go of everything.
func (n *Node) connect(self transport.Identity, known *placement, tlsConfig *tls.Config, open *sync.WaitGroup) cluster.Connect {
	dial := n.options.dialPeer()
	return func(m cluster.Member) cluster.Peer {
		client := transport.Dial(transport.ClientOptions{
			Address:     m.Address,
			Peer:        m.ID,
			Self:        self,
			Placement:   known,
			Feed:        n.overrides,
			OnDemand:    n.options.Role == cluster.RoleClient,
			TLS:         tlsConfig,
			DialContext: dial,
			Logger:      n.options.Logger,
		})
		open.Go(func() { <-client.Done() })
		return session{client}
	}
}

// waitFor waits until running is done, or returns ctx's error.
func waitFor(ctx context.Context, running *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		running.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// peerTLS is how peers authenticate each other; nil without a secret and
// without certificates.
func (n *Node) peerTLS() (*tls.Config, error) {
	switch o := &n.options; {
	case o.TLS != (TLSFiles{}):
		var err error
		if n.certificates, err = transport.LoadCertificates(o.TLS.Cert, o.TLS.Key, o.TLS.CA); err != nil {
			return nil, err
		}
		return n.certificates.TLS(), nil
	case o.Secret != "":
		return transport.SecretTLS(o.Secret)
	}
	return nil, nil
}

func (o *Options) gossipKey() ([]byte, error) {
	if o.Secret == "" {
		return nil, nil
	}
	return transport.DeriveKey(o.Secret, "gossip", gossipKeyBytes)
}

// shared is a hash of what all members must have in common.
func (o *Options) shared(identity cluster.Identity) uint64 {
	b := binary.LittleEndian.AppendUint64(nil, identity.Check())
	b = binary.LittleEndian.AppendUint64(b, ring.Parameters())
	return xxhash.Sum64(append(b, o.Label...))
}

// advertised is the address at which others reach the peer port.
func (o *Options) advertised(listening net.Addr) string {
	host, port, err := net.SplitHostPort(listening.String())
	if err != nil {
		return listening.String()
	}
	if o.Advertise != "" {
		host = o.Advertise
	}
	return net.JoinHostPort(host, port)
}

// listenError says which setting moves a listener that could not open.
func listenError(err error, setting, addr string) error {
	where := fmt.Sprintf("Options.%s%s, cluster.%s or --%s", strings.ToUpper(setting[:1]), setting[1:], setting, setting)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("the %s address %s is in use by another process: choose another with %s: %w", setting, addr, where, err)
	}
	return fmt.Errorf("cannot listen on the %s address %s (%s): %w", setting, addr, where, err)
}
