package memnet

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// stream is what connects two conns.
type stream struct{ ends [2]*conn }

func (s *stream) flows() [2]*flow { return [2]*flow{s.ends[0].out, s.ends[1].out} }

// conn is one end of a stream: a net.Conn with CloseWrite.
type conn struct {
	stream        *stream
	host          *Host
	owner         *Transport // which ends it at last; nil: none
	local, remote netip.AddrPort
	in, out       *flow
	closed        bool // guarded by the network's lock
}

// connect makes a stream from a host to a listener. The caller holds the lock.
func (n *Network) connect(from *Host, to *listener, owner *Transport) (near, far *conn) {
	there, back := newFlow(n, from.addr, to.host.addr), newFlow(n, to.host.addr, from.addr)
	there.back, back.back = back, there
	s := &stream{}
	near = &conn{stream: s, host: from, owner: owner, local: netip.AddrPortFrom(from.addr, from.port()), remote: to.addr, in: back, out: there}
	far = &conn{stream: s, host: to.host, owner: to.owner, local: near.remote, remote: near.local, in: there, out: back}
	s.ends = [2]*conn{near, far}
	n.streams[s] = struct{}{}
	return near, far
}

// Read returns what has arrived, and waits if that is nothing.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.fault("read", err)
}

// Write returns when all of p has been sent; it waits while the window is full.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.fault("write", err)
}

// CloseWrite sends the end of the stream behind what was written.
func (c *conn) CloseWrite() error {
	c.host.network.mu.Lock()
	defer c.host.network.mu.Unlock()
	if c.closed {
		return c.fault("close", net.ErrClosed)
	}
	c.out.finish(io.EOF, syscall.EPIPE)
	return nil
}

// Close ends both directions. What was written still arrives.
func (c *conn) Close() error {
	c.host.network.mu.Lock()
	defer c.host.network.mu.Unlock()
	if c.closed {
		return c.fault("close", net.ErrClosed)
	}
	c.end(io.EOF)
	return nil
}

// end closes both directions; the other side finds end behind the last byte.
// The caller holds the lock.
func (c *conn) end(end error) {
	if c.closed {
		return
	}
	c.closed = true
	c.out.finish(end, net.ErrClosed)
	c.in.abandon()
	if c.stream.ends[0].closed && c.stream.ends[1].closed {
		delete(c.host.network.streams, c.stream)
	}
}

// SetDeadline sets both deadlines.
func (c *conn) SetDeadline(t time.Time) error { return c.setDeadline(t, &c.in.reader, &c.out.writer) }

// SetReadDeadline makes reads fail from t on. Zero: never.
func (c *conn) SetReadDeadline(t time.Time) error { return c.setDeadline(t, &c.in.reader) }

// SetWriteDeadline makes writes fail from t on. Zero: never.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(t, &c.out.writer) }

func (c *conn) setDeadline(t time.Time, sides ...*side) error {
	c.host.network.mu.Lock()
	defer c.host.network.mu.Unlock()
	if c.closed {
		return c.fault("set", net.ErrClosed)
	}
	for _, s := range sides {
		s.deadline = t
		s.wake()
	}
	return nil
}

// LocalAddr is this end's address.
func (c *conn) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(c.local) }

// RemoteAddr is the other end's address.
func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

// fault dresses an error as those of TCP are.
func (c *conn) fault(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
