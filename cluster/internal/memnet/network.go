package memnet

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// Network connects transports. The zero value is not usable.
type Network struct {
	mu         sync.Mutex
	transports map[netip.AddrPort]*Transport
	cut        map[[2]netip.Addr]bool
}

// New returns a network without hosts.
func New() *Network {
	return &Network{
		transports: make(map[netip.AddrPort]*Transport),
		cut:        make(map[[2]netip.Addr]bool),
	}
}

// Listen returns a transport at addr. It is an error if another one listens
// there and has not been shut down.
func (n *Network) Listen(addr netip.AddrPort) (*Transport, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.transports[addr] != nil {
		return nil, fmt.Errorf("memnet: %s is in use", addr)
	}
	t := newTransport(n, addr)
	n.transports[addr] = t
	return t, nil
}

// Listening reports whether somebody listens at addr.
func (n *Network) Listening(addr netip.AddrPort) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.transports[addr] != nil
}

// Cut ends all traffic between the hosts a and b, both ways. Streams that
// are open end.
func (n *Network) Cut(a, b netip.Addr) {
	n.mu.Lock()
	n.cut[link(a, b)] = true
	var open []net.Conn
	for _, t := range n.transports {
		open = append(open, t.streamsBetween(a, b)...)
	}
	n.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// Heal undoes every Cut.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cut)
}

// Connected reports whether the link between a and b is not cut.
func (n *Network) Connected(a, b netip.Addr) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.cut[link(a, b)]
}

// link is the same for both directions.
func link(a, b netip.Addr) [2]netip.Addr {
	if b.Less(a) {
		a, b = b, a
	}
	return [2]netip.Addr{a, b}
}

// route finds who listens at to. cut is set when the way there is.
func (n *Network) route(from netip.Addr, to netip.AddrPort) (t *Transport, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.transports[to], n.cut[link(from, to.Addr())]
}

func (n *Network) remove(t *Transport) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.transports, t.addr)
}
