package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"
)

// ServerOptions configure a [Server].
type ServerOptions struct {
	// Address is where to listen, host:port; port 0 picks a free one.
	Address string
	// Listener, when not nil, is used instead of Address. The server closes it.
	Listener net.Listener
	// TLS is the configuration that [SecretTLS] or [FilesTLS] makes. Nil:
	// plain TCP, for loopback and for clusters that chose to be insecure.
	TLS *tls.Config
	// Self is this node. Required.
	Self Identity
	// Handler decides calls. Required.
	Handler Handler
	// Placement is this node's. Required.
	Placement Placement
	// Feed is this node's. Nil: it has none.
	Feed Feed
	// MaxConnections bounds the connections at one time. 0 is 2,048.
	MaxConnections int
	// Logger receives connections made, lost and refused. Nil: none.
	Logger *slog.Logger
}

// Server answers the calls of peers.
type Server struct {
	options  ServerOptions
	listener net.Listener
	log      *sampledLog
	clock    clock
	stalls   *stallWatch
	zones    zones
	stats    serverCounters

	closing chan struct{} // closed by Close
	ctx     context.Context
	cancel  context.CancelFunc // ends handshakes and connections at once

	mu      sync.Mutex
	conns   map[*conn]struct{}
	closed  bool
	waiting sync.WaitGroup // for connections
}

// Listen binds the address. Peers are accepted once [Server.Serve] runs.
func Listen(o ServerOptions) (*Server, error) {
	if o.Handler == nil || o.Placement == nil || o.Self.ID == "" {
		return nil, errors.New("transport: a server needs a Handler, a Placement and an identity")
	}
	o.MaxConnections = cmp.Or(o.MaxConnections, 2048)
	s := &Server{
		options:  o,
		listener: o.Listener,
		clock:    newClock(),
		closing:  make(chan struct{}),
		conns:    make(map[*conn]struct{}),
	}
	s.log = newSampledLog(o.Logger, s.clock)
	s.stalls = newStallWatch(s.clock)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if s.listener == nil {
		var err error
		if s.listener, err = new(net.ListenConfig).Listen(s.ctx, "tcp", o.Address); err != nil {
			s.cancel()
			return nil, fmt.Errorf("listen for peers on %s: %w", o.Address, err)
		}
	}
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve accepts peers until [Server.Close], and then returns nil.
func (s *Server) Serve() error {
	for {
		raw, err := s.listener.Accept()
		switch {
		case err == nil:
			s.admit(raw)
		case s.isClosing() || errors.Is(err, net.ErrClosed):
			return nil
		default: // out of file descriptors, most likely: it passes
			s.log.write(slog.LevelError, "cannot accept peers", "", err)
			select {
			case <-time.After(minBackoff):
			case <-s.closing:
			}
		}
	}
}

// admit starts serving a connection if there is room for one more.
func (s *Server) admit(raw net.Conn) {
	c := newConn(s, raw)
	s.mu.Lock()
	full := len(s.conns) >= s.options.MaxConnections
	accepted := !full && !s.closed
	if accepted {
		s.conns[c] = struct{}{}
		s.waiting.Add(1)
	}
	s.mu.Unlock()
	if !accepted {
		if full {
			s.stats.rejected.Add(1)
			s.log.write(slog.LevelWarn, "too many peer connections", "", nil, slog.Int("limit", s.options.MaxConnections))
		}
		_ = raw.Close()
		return
	}
	go func() {
		defer s.waiting.Done()
		s.stalls.enter()
		defer s.stalls.leave()
		c.serve()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
}

func (s *Server) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// Close stops accepting, tells the peers, answers their calls with
// CodeClosing until they have left or a second has passed, and closes. If
// ctx ends before, connections are cut off and its error is returned. It is
// idempotent.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	var err error
	if !s.closed {
		s.closed = true
		close(s.closing)
		err = s.listener.Close()
	}
	for c := range s.conns {
		c.interrupt()
	}
	s.mu.Unlock()

	stop := context.AfterFunc(ctx, s.cancel)
	defer stop()
	s.waiting.Wait()
	s.stalls.beating.Wait()
	s.cancel()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return context.Cause(ctx)
}
