package memnet

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"
)

// Network connects hosts. The zero value is not usable.
type Network struct {
	// mu guards everything on the network, down to the bytes in its streams.
	// It is never held while anything waits.
	mu      sync.Mutex
	random  *rand.Rand
	hosts   map[netip.Addr]*Host
	streams map[*stream]struct{}
	faults  faults
	// changed is closed, and made anew, when what can reach what has changed.
	changed chan struct{}

	flying  []packet // on their way, by their instant of arrival
	courier *time.Timer
}

// New returns a network without hosts and without faults. Its random choices
// follow from seed.
func New(seed uint64) *Network {
	return &Network{
		random:  rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // to be repeated, not to be secret
		hosts:   make(map[netip.Addr]*Host),
		streams: make(map[*stream]struct{}),
		faults:  faults{cut: make(map[link]bool)},
		changed: make(chan struct{}),
	}
}

// Host returns the host at addr, which is switched on if it was not, or has
// crashed.
func (n *Network) Host(addr netip.Addr) *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.hosts[addr]
	if h == nil || h.crashed {
		h = newHost(n, addr)
		n.hosts[addr] = h
	}
	return h
}

// Connected reports whether bytes get from a to b and from b to a.
func (n *Network) Connected(a, b netip.Addr) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.blocked(a, b) && !n.blocked(b, a)
}

// Listening reports whether somebody listens for streams at addr.
func (n *Network) Listening(addr netip.AddrPort) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.listener(addr) != nil
}

func (n *Network) listener(addr netip.AddrPort) *listener {
	if h := n.hosts[addr.Addr()]; h != nil {
		return h.listeners[addr.Port()]
	}
	return nil
}

// reroute looks again at what can reach what. The caller holds the lock and
// has changed it.
func (n *Network) reroute() {
	now := time.Now()
	for s := range n.streams {
		for _, f := range s.flows() {
			f.reroute(now)
		}
	}
	close(n.changed)
	n.changed = make(chan struct{})
}
