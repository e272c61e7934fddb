package memnet

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// firstEphemeral is the first port that a dialled stream gets on its own side.
const firstEphemeral = 32768

// Host is a machine on a Network, from when it is switched on until it
// crashes. It is safe for concurrent use.
type Host struct {
	network *Network
	addr    netip.Addr
	down    chan struct{} // closed by Crash

	// The network's lock guards what follows.
	crashed, paused bool
	slow            time.Duration
	lastPort        uint16
	listeners       map[uint16]*listener
	sockets         map[uint16]*Transport
	held            []packet // while paused, from and to this host
}

func newHost(n *Network, addr netip.Addr) *Host {
	return &Host{
		network:   n,
		addr:      addr,
		down:      make(chan struct{}),
		lastPort:  firstEphemeral - 1,
		listeners: make(map[uint16]*listener),
		sockets:   make(map[uint16]*Transport),
	}
}

// Addr is the host's address.
func (h *Host) Addr() netip.Addr { return h.addr }

// Slow sets how much longer everything takes that this host sends or
// receives. 0: no longer.
func (h *Host) Slow(extra time.Duration) {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	h.slow = extra
}

// Pause holds everything that the host sends, and that is sent to it, until
// Resume: streams as across a cut, and as many packets as a socket takes. The
// programs on it run on, unlike those of a machine that is stopped.
func (h *Host) Pause() {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	h.paused = true
	h.network.reroute()
}

// Resume undoes Pause.
func (h *Host) Resume() {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	h.paused = false
	held := h.held
	h.held = nil
	h.network.reroute()
	for _, p := range held {
		h.network.send(p)
	}
}

// Crash ends the host as kill -9 ends its programs: what it has sent
// still arrives, then its streams are reset, and nothing that its programs
// try from here on gets anywhere. Whoever dials the address is refused, until
// [Network.Host] switches a new host on there.
func (h *Host) Crash() {
	n := h.network
	n.mu.Lock()
	defer n.mu.Unlock()
	if h.crashed {
		return
	}
	paused := h.paused
	h.crashed, h.paused, h.held = true, false, nil
	close(h.down)
	for _, l := range h.listeners {
		l.shut()
	}
	clear(h.sockets)
	for s := range n.streams {
		for _, c := range s.ends {
			if c.host != h {
				continue
			}
			if paused { // it has sent nothing meanwhile
				c.out.recall()
			}
			c.end(syscall.ECONNRESET)
		}
	}
	n.reroute()
}

// port takes an ephemeral one. The caller holds the lock.
func (h *Host) port() uint16 {
	h.lastPort = max(h.lastPort+1, firstEphemeral)
	return h.lastPort
}

// free reports why nobody can listen at a port. The caller holds the lock.
func (h *Host) free(port uint16) error {
	switch {
	case h.crashed:
		return net.ErrClosed
	case h.listeners[port] != nil:
		return fmt.Errorf("listen on %s: %w", netip.AddrPortFrom(h.addr, port), syscall.EADDRINUSE)
	}
	return nil
}
