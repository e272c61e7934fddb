package testcluster

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/internal/memnet"
	"github.com/murmurate/murmurate/policy"
)

// The ports of every node.
const (
	gossipPort = 7381
	peerPort   = 7382
)

// stopsWithin is how long a node may take to drain and close.
const stopsWithin = 10 * time.Second

// NodeOptions configures a [Node]. The zero value is an owner that joins all
// others.
type NodeOptions struct {
	// Role says whether the node owns keys. Empty: cluster.RoleOwner.
	Role cluster.Role
	// Label keeps clusters apart that share the network. Empty:
	// murmurate.DefaultLabel.
	Label string
	// Join names nodes to look for, whether they run or not. Nil: all that run
	// and have the same label. Empty, and not nil: none.
	Join []string
	// Policies are this node's. Nil: the cluster's.
	Policies []policy.Policy
	// Secret encrypts gossip and authenticates peers. Empty: neither.
	Secret string
	// DataDir is where the node keeps what outlives it, such as t.TempDir().
	// Empty: it keeps nothing.
	DataDir string
}

// Node is a node of a [Cluster]. Restart makes a new one.
type Node struct {
	*murmurate.Node
	options         NodeOptions
	host            *memnet.Host
	running, paused bool
	ended           chan struct{} // closed when it has let go of its DataDir
}

// Running reports whether the node was neither stopped nor killed.
func (n *Node) Running() bool { return n.running }

// Paused reports whether the node is running and paused.
func (n *Node) Paused() bool { return n.running && n.paused }

// Start starts a node and returns when it knows who owns which keys: a moment
// later if one of those it joins answers, and 3 s later, alone, if none does.
// A node that cannot start ends the test.
func (c *Cluster) Start(name string, o NodeOptions) *Node {
	c.t.Helper()
	n, err := c.TryStart(name, o)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// TryStart is Start for nodes that may be refused.
func (c *Cluster) TryStart(name string, o NodeOptions) (*Node, error) {
	if n := c.nodes[name]; n != nil && n.running {
		return nil, fault(name, errRunning)
	}
	if o.Label == "" {
		o.Label = murmurate.DefaultLabel
	}
	options, err := c.murmurate(name, o)
	if err != nil {
		return nil, fault(name, err)
	}
	if n := c.nodes[name]; n != nil && o.DataDir != "" {
		<-n.ended
	}
	host := c.network.Host(c.address(name))
	options.Network = network{host}
	node, err := murmurate.Start(c.t.Context(), options)
	if err != nil {
		host.Crash()
		return nil, fault(name, err)
	}
	n := &Node{Node: node, options: o, host: host, running: true, ended: make(chan struct{})}
	c.nodes[name] = n
	c.running = append(c.running, n)
	return n, nil
}

// murmurate translates o, but for the network.
func (c *Cluster) murmurate(name string, o NodeOptions) (murmurate.Options, error) {
	list := o.Policies
	if list == nil {
		list = c.options.Policies
	}
	set, err := policy.NewSet(list...)
	if err != nil {
		return murmurate.Options{}, err
	}
	addr := c.address(name)
	options := murmurate.Options{
		Name:       name,
		Gossip:     netip.AddrPortFrom(addr, gossipPort).String(),
		Peer:       netip.AddrPortFrom(addr, peerPort).String(),
		Join:       c.seeds(name, o),
		Label:      o.Label,
		Role:       o.Role,
		Secret:     o.Secret,
		Insecure:   true,
		DataDir:    o.DataDir,
		Deadline:   c.options.Deadline,
		EvictAfter: c.options.EvictAfter,
		Policies:   set,
	}
	if c.options.Logger != nil {
		options.Logger = c.options.Logger.With("node", name)
	}
	if c.options.Observer != nil {
		options.Observer = c.options.Observer(name)
	}
	return options, nil
}

// seeds are the gossip addresses of those that a node joins.
func (c *Cluster) seeds(name string, o NodeOptions) []string {
	names := o.Join
	if names == nil {
		for _, n := range c.running {
			if n.options.Label == o.Label {
				names = append(names, n.Name())
			}
		}
	}
	var seeds []string
	for _, other := range names {
		if other != name {
			seeds = append(seeds, netip.AddrPortFrom(c.address(other), gossipPort).String())
		}
	}
	return seeds
}

// Stop ends a node as SIGTERM does: it leaves, and closes within 10 s.
func (c *Cluster) Stop(name string) {
	c.t.Helper()
	n := c.must(name)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.t.Context()), stopsWithin)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		c.t.Logf("testcluster: node %q has not left in peace: %v", name, err)
	}
	close(n.ended)
	c.gone(n)
}

// Kill ends a node as kill -9 does: its connections end, and nobody has a word
// from it. What it has not written to its DataDir by then is lost.
func (c *Cluster) Kill(name string) {
	c.t.Helper()
	n := c.must(name)
	c.gone(n)
	c.ending.Go(func() {
		end(n.Node)
		close(n.ended)
	})
}

// gone takes a node off the network.
func (c *Cluster) gone(n *Node) {
	n.host.Crash()
	n.running = false
	c.running = slices.DeleteFunc(c.running, func(other *Node) bool { return other == n })
}

// end releases what a node holds, without a word to others.
func end(n *murmurate.Node) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = n.Close(ctx) // which says that ctx has ended
}

// Restart starts a node again under its name, at its address, with its
// options, and with what is in its DataDir for memory. It kills one that is
// running.
func (c *Cluster) Restart(name string) *Node {
	c.t.Helper()
	n := c.nodes[name]
	if n == nil {
		c.t.Fatalf("testcluster: no node %q was ever started", name)
	}
	if n.running {
		c.Kill(name)
	}
	return c.Start(name, n.options)
}
