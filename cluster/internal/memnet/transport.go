package memnet

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/memberlist"
)

const (
	packetQueue = 1024
	streamQueue = 64
)

// Transport is a memberlist.Transport on a Network.
type Transport struct {
	network  *Network
	addr     netip.AddrPort
	packets  chan *memberlist.Packet
	incoming chan net.Conn
	down     chan struct{}
	once     sync.Once

	mu      sync.Mutex
	streams map[*stream]struct{}
}

func newTransport(n *Network, addr netip.AddrPort) *Transport {
	return &Transport{
		network:  n,
		addr:     addr,
		packets:  make(chan *memberlist.Packet, packetQueue),
		incoming: make(chan net.Conn, streamQueue),
		down:     make(chan struct{}),
		streams:  make(map[*stream]struct{}),
	}
}

// FinalAdvertiseAddr is the address of Listen, whatever was configured.
func (t *Transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return t.addr.Addr().AsSlice(), int(t.addr.Port()), nil
}

// WriteTo sends a packet, which may get lost without an error.
func (t *Transport) WriteTo(b []byte, addr string) (time.Time, error) {
	now := time.Now()
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return now, err
	}
	if other, cut := t.network.route(t.addr.Addr(), to); other != nil && !cut {
		other.receive(&memberlist.Packet{Buf: append([]byte(nil), b...), From: net.UDPAddrFromAddrPort(t.addr), Timestamp: now})
	}
	return now, nil
}

func (t *Transport) receive(p *memberlist.Packet) {
	select {
	case t.packets <- p:
	default:
	}
}

// PacketCh delivers packets.
func (t *Transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// DialTimeout opens a stream, which dies timeout after it was opened unless
// another deadline is set.
func (t *Transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	other, cut := t.network.route(t.addr.Addr(), to)
	if cut {
		select {
		case <-time.After(timeout):
			return nil, t.dialError(to, os.ErrDeadlineExceeded)
		case <-t.down:
			return nil, t.dialError(to, net.ErrClosed)
		}
	}
	if other == nil {
		return nil, t.dialError(to, syscall.ECONNREFUSED)
	}
	near, far := net.Pipe()
	// memberlist writes to a stream before it sets a deadline, and a pipe
	// has no buffer to take that.
	if err := near.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	s := t.open(near, other.addr)
	select {
	case other.incoming <- other.open(far, t.addr):
		return s, nil
	default:
		return nil, errors.Join(t.dialError(to, syscall.ECONNREFUSED), s.Close())
	}
}

func (t *Transport) dialError(to netip.AddrPort, err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Source: net.TCPAddrFromAddrPort(t.addr), Addr: net.TCPAddrFromAddrPort(to), Err: err}
}

// StreamCh delivers streams that others have opened.
func (t *Transport) StreamCh() <-chan net.Conn { return t.incoming }

// Shutdown ends all streams and frees the address.
func (t *Transport) Shutdown() error {
	t.once.Do(func() {
		t.network.remove(t)
		close(t.down)
		for _, s := range t.openStreams() {
			_ = s.Close()
		}
	})
	return nil
}

// stream is one side of a pipe that knows whom it connects.
type stream struct {
	net.Conn
	owner  *Transport
	remote netip.AddrPort
}

func (t *Transport) open(c net.Conn, remote netip.AddrPort) *stream {
	s := &stream{Conn: c, owner: t, remote: remote}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streams[s] = struct{}{}
	return s
}

func (t *Transport) openStreams() []*stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]*stream, 0, len(t.streams))
	for s := range t.streams {
		all = append(all, s)
	}
	return all
}

// streamsBetween returns the open streams of t between the hosts a and b.
func (t *Transport) streamsBetween(a, b netip.Addr) []net.Conn {
	var found []net.Conn
	for _, s := range t.openStreams() {
		if link(t.addr.Addr(), s.remote.Addr()) == link(a, b) {
			found = append(found, s)
		}
	}
	return found
}

// Close ends the stream.
func (s *stream) Close() error {
	s.owner.mu.Lock()
	delete(s.owner.streams, s)
	s.owner.mu.Unlock()
	return s.Conn.Close()
}

// LocalAddr is this side's address.
func (s *stream) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(s.owner.addr) }

// RemoteAddr is the other side's address.
func (s *stream) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(s.remote) }
