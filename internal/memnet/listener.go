package memnet

import (
	"net"
	"net/netip"
	"syscall"
)

// backlog is how many streams may wait to be accepted at one address.
const backlog = 128

// listener takes the streams that others open to one address.
type listener struct {
	host     *Host
	addr     netip.AddrPort
	owner    *Transport // nil: none
	incoming chan net.Conn
	down     chan struct{} // closed by shut
	closed   bool          // guarded by the network's lock
}

// Listen accepts streams at a port. The error is syscall.EADDRINUSE if
// somebody else does, and net.ErrClosed if the host has crashed.
func (h *Host) Listen(port uint16) (net.Listener, error) {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	if err := h.free(port); err != nil {
		return nil, err
	}
	return h.listen(port, nil), nil
}

// listen listens at a port that is free. The caller holds the lock.
func (h *Host) listen(port uint16, owner *Transport) *listener {
	l := &listener{
		host:     h,
		addr:     netip.AddrPortFrom(h.addr, port),
		owner:    owner,
		incoming: make(chan net.Conn, backlog),
		down:     make(chan struct{}),
	}
	h.listeners[port] = l
	return l
}

// Accept waits for the next stream. Its error, after Close, is net.ErrClosed.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.incoming:
		return c, nil
	case <-l.down:
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
}

// Close frees the address. Streams that wait to be accepted are reset.
func (l *listener) Close() error {
	l.host.network.mu.Lock()
	defer l.host.network.mu.Unlock()
	if l.closed {
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
	l.shut()
	return nil
}

// shut closes l if it is open. The caller holds the lock.
func (l *listener) shut() {
	if l.closed {
		return
	}
	l.closed = true
	delete(l.host.listeners, l.addr.Port())
	close(l.down)
	for {
		select {
		case c := <-l.incoming:
			c.(*conn).end(syscall.ECONNRESET)
		default:
			return
		}
	}
}

// Addr is the address listened on.
func (l *listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.addr) }
