package memnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// DialContext opens a stream to addr, an IP and a port. It waits while
// either direction is cut, and is refused at once where nobody listens. The
// error is a *net.OpError.
func (h *Host) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if network != "tcp" {
		return nil, net.UnknownNetworkError(network)
	}
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("dial %s: want an IP address and a port: %w", addr, err)
	}
	c, err := h.dial(ctx, to, nil)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (h *Host) dial(ctx context.Context, to netip.AddrPort, owner *Transport) (*conn, error) {
	d := dialling{from: h, to: to, owner: owner}
	for {
		c, wait, err := d.try()
		if err == nil && c == nil {
			err = wait.sleep(ctx, h.down)
		}
		if err != nil {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(to), Err: err}
		}
		if c != nil {
			return c, nil
		}
	}
}

// dialling is a stream that is being opened.
type dialling struct {
	from  *Host
	to    netip.AddrPort
	owner *Transport
	// answered is when the answer of the other side is there; zero: not yet
	// asked.
	answered time.Time
}

// pause is what one waits for before one tries again.
type pause struct {
	until   time.Time // zero: for no instant
	changed <-chan struct{}
}

// try opens the stream, or says what to wait for.
func (d *dialling) try() (*conn, pause, error) {
	n := d.from.network
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	there, back := link{d.from.addr, d.to.Addr()}, link{d.to.Addr(), d.from.addr}
	switch {
	case d.from.crashed:
		return nil, pause{}, net.ErrClosed
	case n.blocked(there.from, there.to) || n.blocked(back.from, back.to):
		d.answered = time.Time{}
		return nil, pause{changed: n.changed}, nil
	case d.answered.IsZero():
		d.answered = now.Add(n.delay(there.from, there.to) + n.delay(back.from, back.to) + n.retransmission(redialAfter) + n.retransmission(redialAfter))
	}
	if d.answered.After(now) {
		return nil, pause{until: d.answered, changed: n.changed}, nil
	}
	l := n.listener(d.to)
	if l == nil {
		return nil, pause{}, syscall.ECONNREFUSED
	}
	if len(l.incoming) == cap(l.incoming) {
		d.answered = now.Add(redialAfter)
		return nil, pause{until: d.answered, changed: n.changed}, nil
	}
	near, far := n.connect(d.from, l, d.owner)
	l.incoming <- far
	return near, pause{}, nil
}

// sleep waits until it is time to try again. The error is why there is none.
func (p pause) sleep(ctx context.Context, down <-chan struct{}) error {
	var due <-chan time.Time
	if !p.until.IsZero() {
		timer := time.NewTimer(time.Until(p.until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
		return nil
	case <-p.changed:
		return nil
	case <-down:
		return net.ErrClosed
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return os.ErrDeadlineExceeded
		}
		return ctx.Err()
	}
}
