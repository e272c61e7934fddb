package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"
)

// run connects, keeps the session, and connects again, until ctx ends.
func (c *Client) run(ctx context.Context) {
	defer close(c.done)
	first, lost := true, c.clock.now()
	for {
		s, err := c.connect(ctx, first)
		if err == nil {
			first = false
			begun := c.clock.now()
			err = c.keep(ctx, s)
			if now := c.clock.now(); now-begun >= stableFor {
				lost = now
			}
		}
		if ctx.Err() != nil {
			err = errClosed
		}
		c.last.Store(&err)
		if ctx.Err() != nil {
			return
		}
		level := slog.LevelWarn
		if errors.Is(err, errLeaving) {
			level = slog.LevelInfo
		}
		c.log.write(level, "no session with the peer", c.options.Peer, err, slog.String("address", c.options.Address))
		wait := backoff(c.clock.now()-lost, rand.Float64()) //nolint:gosec // jitter is no secret
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// keep offers the session to callers until it ends, and returns why it did.
func (c *Client) keep(ctx context.Context, s *session) error {
	stop := context.AfterFunc(ctx, func() { s.end(errClosed) })
	defer stop()
	c.stats.sessions.Add(1)
	c.last.Store(nil)
	c.session.Store(s)
	defer c.session.Store(nil)
	return s.run()
}

// connect opens a connection and introduces this node.
func (c *Client) connect(ctx context.Context, first bool) (*session, error) {
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := c.options.DialContext(dialing, "tcp", c.options.Address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	conn, in, peer, err := c.introduce(ctx, raw)
	if !stop() && err == nil {
		err = errClosed
	}
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	c.log.write(slog.LevelInfo, "session with the peer", peer.ID, nil,
		slog.String("address", c.options.Address), slog.String("version", peer.Version))
	speaks := min(peer.max, maxProtocol)
	s := &session{
		client: c,
		conn:   raw,
		speaks: speaks,
		feeder: newFeeder(c.options.Feed, speaks),
		in:     in,
		out:    frameWriter{conn: conn, clock: c.clock},
		wake:   make(chan struct{}, 1),
		ending: make(chan struct{}),
		health: health{onDemand: c.options.OnDemand, silence: c.options.silence},
	}
	s.health.connected(c.clock.now(), first)
	return s, nil
}

// introduce exchanges hellos, below TLS if that is configured.
func (c *Client) introduce(ctx context.Context, raw net.Conn) (net.Conn, *frameReader, *hello, error) {
	if err := raw.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return nil, nil, nil, err
	}
	conn := raw
	if c.options.TLS != nil {
		secured := tls.Client(raw, c.options.TLS)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, nil, nil, explain(err)
		}
		conn = secured
	}
	in := newFrameReader(conn, c.clock)
	if _, err := conn.Write(encodeHello(newHello(c.options.Self, c.options.Peer))); err != nil {
		return nil, nil, nil, explain(err)
	}
	k, body, err := readHello(in)
	if err != nil {
		return nil, nil, nil, err
	}
	peer, err := c.welcome(k, body)
	if err != nil {
		return nil, nil, nil, err
	}
	in.limit, in.patience = maxFrameBytes, frameTimeout
	return conn, in, peer, raw.SetDeadline(time.Time{})
}

// welcome judges what the server answered to our hello.
func (c *Client) welcome(k kind, body []byte) (*hello, error) {
	if k == frameRefuse {
		r, err := decodeRefusal(body)
		if err != nil {
			return nil, err
		}
		return nil, r
	}
	if k != frameHello {
		return nil, fmt.Errorf("%w: it answered with a frame of kind %d", errNotPeer, k)
	}
	peer, err := decodeHello(body)
	if err != nil {
		return nil, err
	}
	if r := judge(c.options.Self, peer, c.options.Peer); r != nil {
		return nil, r
	}
	return peer, nil
}
