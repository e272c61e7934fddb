package murmurate

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/internal/receipt"
	"github.com/murmurate/murmurate/internal/token"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/transport"
)

// Node is one member of a cluster, or a cluster of one. Its methods are safe
// for concurrent use.
type Node struct {
	options  Options
	policies atomic.Pointer[policy.Set] // in force; never nil
	identity cluster.Identity
	tokens   token.Signer                   // of what clients are given and bring back
	receipts *receipt.Signer                // by tokens
	spelled  atomic.Pointer[configuredKeys] // nil until somebody looks by fingerprint
	clock    *cluster.Clock
	owned    *limiter.Table // counters of the keys that this node owns
	shares   *limiter.Table // what was spent while their owner was out of reach
	view     func() *cluster.View
	owner    *cluster.Owner
	router   *cluster.Router
	share    *cluster.Share
	data     dataDir
	outages  outages
	denials  denials
	peers    *transport.Server   // nil when Alone
	members  *cluster.Membership // nil when Alone
	// certificates are the operator's own; nil without.
	certificates *transport.Certificates

	overrides *cluster.Overrides
	book      overrideBook
	news      chan struct{} // has room for one signal: an override was set or removed here

	queues   waitQueues
	leases   *leaseKeeper
	settling chan struct{} // holds a token for each settlement in the background

	closes   atomic.Bool   // somebody has called Close
	closing  chan struct{} // closed when Close begins
	ended    chan struct{} // closed when Close is done
	closed   error         // what Close returns, once ended
	teardown []release     // ended last in, first out
}

// release ends one thing that Start began.
type release struct {
	name string
	end  func(context.Context) error
}

// Start makes a node and joins the cluster. It returns when the node knows
// who owns the keys: at once without Join, within a second if one of Join
// answers, and after three seconds, alone, if none does. Joining goes on in
// the background; Readiness says how far it is. ctx bounds the start only.
//
// The error names every option at fault, the address that could not be
// listened on, or another node with the same name (cluster.ErrDuplicate).
func Start(ctx context.Context, o Options) (*Node, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	n := &Node{
		options: o, clock: cluster.NewClock(), outages: outages{log: o.Logger}, denials: denials{log: o.Logger},
		news: make(chan struct{}, 1), settling: make(chan struct{}, maxSettling), closing: make(chan struct{}), ended: make(chan struct{}),
	}
	n.policies.Store(o.Policies)
	if err := n.start(ctx); err != nil {
		_ = n.Close(ctx) // what had begun; the error that matters is err
		return nil, err
	}
	return n, nil
}

func (n *Node) start(ctx context.Context) (err error) {
	if n.identity, err = n.options.identity(); err != nil {
		return err
	}
	if n.tokens, err = n.options.signer(); err != nil {
		return err
	}
	n.receipts = receipt.NewSigner(n.tokens)
	if err := n.openDataDir(); err != nil {
		return err
	}
	n.owned = limiter.NewTable(limiter.TableOptions{MaxKeys: n.options.MaxKeys})
	n.shares = limiter.NewTable(limiter.TableOptions{MaxKeys: n.options.MaxKeys})
	if err := n.restore(); err != nil {
		return err
	}
	view := func() *cluster.View { return n.view() } // known once the membership is
	n.owner = cluster.NewOwner(n.owned, n.clock, view, n.data.kept())
	n.share = cluster.NewShare(n.shares, n.clock, view)
	n.router = cluster.NewRouter(cluster.RouterOptions{
		View:     view,
		Owner:    n.owner,
		Deadline: n.options.Deadline,
		Observe:  func(f cluster.Forwarded) { n.options.Observer.Forward(string(f)) },
	})
	n.sweep()
	if n.options.Alone {
		err = n.startAlone()
	} else {
		err = n.startClustered(ctx)
	}
	if err == nil {
		n.keepLeases()
	}
	n.onClose("settlements", n.endSettling) // while there are still sessions
	return err
}

func (n *Node) startAlone() error {
	if n.options.Name == "" {
		n.options.Name = "alone"
	}
	alone, err := cluster.AloneView(n.options.Name)
	if err != nil {
		return err
	}
	n.view = func() *cluster.View { return alone }
	return n.startOverrides()
}

// Close drains the node: it leaves the cluster, so that others take over its
// keys, finishes what it has begun, and ends within ctx. Later calls return
// what the first one did. Whoever still checks is told ErrClosed, so a server
// ends before its node: Drain, then the server's Shutdown, then Close.
func (n *Node) Close(ctx context.Context) error {
	if !n.closes.CompareAndSwap(false, true) {
		<-n.ended // not a lock: a test's virtual time goes on meanwhile
		return n.closed
	}
	defer close(n.ended)
	close(n.closing)
	for i := len(n.teardown) - 1; i >= 0; i-- {
		r := n.teardown[i]
		if err := r.end(ctx); err != nil && n.closed == nil {
			n.closed = fmt.Errorf("closing the %s: %w", r.name, err)
		}
	}
	return n.closed
}

// hasEnded reports whether Close is done.
func (n *Node) hasEnded() bool {
	select {
	case <-n.ended:
		return true
	default:
		return false
	}
}

// onClose registers the release of something that has just begun.
func (n *Node) onClose(name string, end func(context.Context) error) {
	n.teardown = append(n.teardown, release{name, end})
}

// Name is the node's stable id.
func (n *Node) Name() string { return n.options.Name }

// PeerAddr is the address listened on for forwarded checks, nil when Alone.
func (n *Node) PeerAddr() net.Addr {
	if n.peers == nil {
		return nil
	}
	return n.peers.Addr()
}

// GossipAddr is the address at which others reach this node's gossip, nil
// when Alone.
func (n *Node) GossipAddr() net.Addr {
	if n.members == nil {
		return nil
	}
	return net.TCPAddrFromAddrPort(n.members.GossipAddress())
}
