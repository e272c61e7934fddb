package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// greet exchanges hellos with a peer that dialled, below TLS if that is
// configured. A peer that is not wanted is told why.
func (s *Server) greet(ctx context.Context, raw net.Conn) (net.Conn, *frameReader, *hello, error) {
	if err := raw.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return nil, nil, nil, err
	}
	if s.isClosing() {
		return nil, nil, nil, net.ErrClosed
	}
	conn := raw
	if s.options.TLS != nil {
		secured := tls.Server(raw, s.options.TLS)
		if err := secured.HandshakeContext(ctx); err != nil {
			var plain tls.RecordHeaderError
			if errors.As(err, &plain) {
				decline(raw, &refusal{reason: reasonTLS, detail: "only TLS is spoken here: the cluster has a secret or certificates, and the node that dialled has none"})
			}
			return nil, nil, nil, explain(err)
		}
		conn = secured
	}
	in := newFrameReader(conn, s.clock)
	in.source.stalls = s.stalls
	if s.options.TLS == nil && in.startsLikeTLS() {
		decline(raw, &refusal{reason: reasonPlain, detail: "no TLS is spoken here: this node has no cluster secret or certificate"})
		return nil, nil, nil, errPeerTLS
	}
	k, body, err := readHello(in)
	if err != nil {
		return nil, nil, nil, err
	}
	if k != frameHello {
		return nil, nil, nil, fmt.Errorf("%w: it began with a frame of kind %d", errNotPeer, k)
	}
	peer, err := decodeHello(body)
	if err != nil {
		return nil, nil, nil, err
	}
	if r := judge(s.options.Self, peer, ""); r != nil {
		decline(conn, r)
		return nil, nil, nil, r
	}
	if _, err := conn.Write(encodeHello(newHello(s.options.Self, ""))); err != nil {
		return nil, nil, nil, err
	}
	in.limit, in.patience = maxFrameBytes, frameTimeout
	return conn, in, peer, raw.SetDeadline(time.Time{})
}

// decline tells the peer why, as far as it listens.
func decline(conn net.Conn, r *refusal) {
	_, _ = conn.Write(encodeRefusal(r))
}
