package memnet

import (
	"context"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Transport is a memberlist.Transport on a Host.
type Transport struct {
	host     *Host
	listener *listener
	packets  chan *memberlist.Packet
	ctx      context.Context // ends with Shutdown
	cancel   context.CancelFunc
	once     sync.Once
}

// ListenGossip takes packets and streams at a port. Its errors are those of
// Listen.
func (h *Host) ListenGossip(port uint16) (*Transport, error) {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	if err := h.free(port); err != nil {
		return nil, err
	}
	t := &Transport{host: h, packets: make(chan *memberlist.Packet, packetQueue)}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.listener = h.listen(port, t)
	h.sockets[port] = t
	return t, nil
}

// FinalAdvertiseAddr is the address of ListenGossip, whatever was configured.
func (t *Transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	addr := t.listener.addr
	return addr.Addr().AsSlice(), int(addr.Port()), nil
}

// WriteTo sends a packet, which may get lost without an error.
func (t *Transport) WriteTo(b []byte, addr string) (time.Time, error) {
	now := time.Now()
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return now, err
	}
	n := t.host.network
	n.mu.Lock()
	defer n.mu.Unlock()
	if !t.host.crashed {
		n.send(packet{from: t.listener.addr, to: to, bytes: slices.Clone(b)})
	}
	return now, nil
}

// PacketCh delivers packets.
func (t *Transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// DialTimeout opens a stream, which ends with the transport.
func (t *Transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(t.ctx, timeout)
	defer cancel()
	c, err := t.host.dial(ctx, to, t)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// StreamCh delivers streams that others have opened.
func (t *Transport) StreamCh() <-chan net.Conn { return t.listener.incoming }

// Shutdown frees the address and ends the streams. It is idempotent.
func (t *Transport) Shutdown() error {
	t.once.Do(func() {
		t.cancel()
		n := t.host.network
		n.mu.Lock()
		defer n.mu.Unlock()
		t.listener.shut()
		delete(t.host.sockets, t.listener.addr.Port())
		for s := range n.streams {
			for _, c := range s.ends {
				if c.owner == t {
					c.end(io.EOF)
				}
			}
		}
	})
	return nil
}
