package cluster

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

const (
	// maxStreams bounds the gossip streams that others have open here at one
	// time. memberlist serves at most 128 push/pulls at once and gives each
	// stream a goroutine for up to streamTimeout, whatever comes over it.
	maxStreams = 256
	// dialledLife bounds how long a stream to another node stays open:
	// longer than an exchange of states can take.
	dialledLife = 3 * streamTimeout
)

// netTransport is memberlist's own, except that others have a bounded number
// of streams open, and that this node's end when the membership does.
type netTransport struct {
	*memberlist.NetTransport
	ctx     context.Context
	log     *slog.Logger
	refused throttle

	// slots holds one token for each stream that is open.
	slots   chan struct{}
	streams chan net.Conn
	// ending is closed before the listeners are, and ended after them.
	ending, ended chan struct{}
	once          sync.Once
	running       sync.WaitGroup
}

// newNetTransport starts to take streams from nt. Its owner shuts it down.
func newNetTransport(ctx context.Context, log *slog.Logger, nt *memberlist.NetTransport) *netTransport {
	t := &netTransport{
		NetTransport: nt,
		ctx:          ctx,
		log:          log,
		slots:        make(chan struct{}, maxStreams),
		streams:      make(chan net.Conn),
		ending:       make(chan struct{}),
		ended:        make(chan struct{}),
	}
	t.running.Go(t.accept)
	return t
}

// StreamCh delivers the streams that others have opened, each of which
// counts until it is closed.
func (t *netTransport) StreamCh() <-chan net.Conn { return t.streams }

// accept takes streams until the listeners have ended: they wait for it.
func (t *netTransport) accept() {
	for {
		select {
		case conn := <-t.NetTransport.StreamCh():
			t.admit(conn)
		case <-t.ended:
			return
		}
	}
}

// admit passes a stream on, or closes it.
func (t *netTransport) admit(conn net.Conn) {
	select {
	case t.slots <- struct{}{}:
	default:
		if t.refused.first("") {
			t.log.Warn("closed a gossip stream at once: too many are open", "from", conn.RemoteAddr(), "open", maxStreams)
		}
		_ = conn.Close()
		return
	}
	s := &gossipStream{Conn: conn, release: func() { <-t.slots }}
	select {
	case t.streams <- s:
	case <-t.ending:
		_ = s.Close()
	}
}

// Shutdown closes the listeners and waits until nothing runs any more.
func (t *netTransport) Shutdown() error {
	var err error
	t.once.Do(func() {
		close(t.ending)
		err = t.NetTransport.Shutdown()
		close(t.ended)
		t.running.Wait()
	})
	return err
}

// DialTimeout opens a stream.
func (t *netTransport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout}
	conn, err := d.DialContext(t.ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithTimeout(t.ctx, dialledLife)
	context.AfterFunc(life, func() { _ = conn.Close() })
	return &gossipStream{Conn: conn, release: cancel}, nil
}

// DialAddressTimeout opens a stream.
func (t *netTransport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return t.DialTimeout(a.Addr, timeout)
}

// gossipStream is a stream that gives something back when it is closed.
type gossipStream struct {
	net.Conn
	once    sync.Once
	release func()
}

// Close ends the stream. It is idempotent.
func (s *gossipStream) Close() error {
	err := s.Conn.Close()
	s.once.Do(s.release)
	return err
}
