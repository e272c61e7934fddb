package testcluster

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/internal/memnet"
	"github.com/murmurate/murmurate/policy"
)

// Options configures a [Cluster]. The zero value is usable.
type Options struct {
	// Policies are those of every node that has none of its own. None: the
	// built-in policy.
	Policies []policy.Policy
	// Seed is where the network's random choices come from: jitter, loss,
	// duplication.
	Seed uint64
	// Deadline bounds a check that has to ask another node. 0: 50 ms.
	Deadline time.Duration
	// EvictAfter is how long a node may be out of reach of most others before
	// they take its place. 0: 5 minutes.
	EvictAfter time.Duration
	// Logger receives the nodes' logs, each line with the attribute "node".
	// Nil: nothing is logged.
	Logger *slog.Logger
	// Observer gives each node, at every start, what hears of its decisions.
	// Nil, or a nil result: nobody does.
	Observer func(node string) murmurate.Observer
}

// Cluster is a set of nodes on one network in memory. Its methods report what
// goes wrong to the test, and are for one goroutine at a time.
type Cluster struct {
	t       testing.TB
	options Options
	network *memnet.Network
	nodes   map[string]*Node // the newest of each name
	// addresses are those of all names that were ever mentioned.
	addresses map[string]netip.Addr
	running   []*Node        // in the order of their starts
	ending    sync.WaitGroup // of nodes that were killed
}

// New returns a cluster without nodes, for a synctest bubble that the caller
// has made, or for real time. It is closed with the test; in a bubble, time
// then runs on for some minutes, until the nodes' last goroutines have ended.
func New(t testing.TB, o Options) *Cluster {
	c := &Cluster{t: t, options: o, network: memnet.New(o.Seed), nodes: make(map[string]*Node), addresses: make(map[string]netip.Addr)}
	t.Cleanup(c.close)
	return c
}

func (c *Cluster) close() {
	for _, n := range c.Nodes() {
		c.Kill(n.Name())
	}
	c.ending.Wait()
	if inBubble() {
		time.Sleep(afterglow)
	}
}

// Node returns the node of that name, running or not, or nil if none was
// started.
func (c *Cluster) Node(name string) *Node { return c.nodes[name] }

// Nodes returns the running nodes, paused ones among them, in the order of
// their starts.
func (c *Cluster) Nodes() []*Node { return append([]*Node(nil), c.running...) }

// must returns the running node of that name, or ends the test.
func (c *Cluster) must(name string) *Node {
	c.t.Helper()
	n := c.nodes[name]
	if n == nil || !n.running {
		c.t.Fatalf("testcluster: no node %q is running", name)
	}
	return n
}

// address gives every name a host of its own, for good, from when it is first
// mentioned.
func (c *Cluster) address(name string) netip.Addr {
	addr, known := c.addresses[name]
	if !known {
		number := len(c.addresses) + 1
		addr = netip.AddrFrom4([4]byte{10, 0, byte(number >> 8), byte(number)})
		c.addresses[name] = addr
	}
	return addr
}

var errRunning = errors.New("is running already")

func fault(name string, err error) error { return fmt.Errorf("testcluster: node %q: %w", name, err) }
