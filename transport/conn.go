package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// conn is one peer's connection to a server. One goroutine reads a frame,
// handles its calls and answers, so a peer whose answers cannot be written
// is not read from either.
type conn struct {
	server *Server
	raw    net.Conn
	in     *frameReader
	out    *frameWriter

	late     lateReplies
	buf      []byte // frames to be written
	replies  []byte // of the frameReplies under way
	theirs   uint64 // the peer's digest, as last seen
	exchange exchange
	feeder   feeder
	woken    bool      // the closing server has interrupted the wait for a frame
	left     time.Time // when a closing server stops waiting; zero: no goodbye said yet

	space   callSpace
	results [limiter.MaxCharges]limiter.Result
}

func newConn(s *Server, raw net.Conn) *conn { return &conn{server: s, raw: raw} }

// interrupt wakes a connection that waits for a frame. See beforeWait.
func (c *conn) interrupt() {
	_ = c.raw.SetReadDeadline(time.Unix(1, 0))
}

// serve keeps the connection from hello to the end.
func (c *conn) serve() {
	s := c.server
	remote := slog.String("remote", c.raw.RemoteAddr().String())
	stop := context.AfterFunc(s.ctx, func() { _ = c.raw.Close() })
	defer func() {
		stop()
		_ = c.raw.Close() // nothing is lost: what was answered has been written
		c.late.waiting.Wait()
	}()
	upper, in, peer, err := s.greet(s.ctx, c.raw)
	if err != nil {
		s.stats.rejected.Add(1)
		if !s.isClosing() {
			s.log.write(slog.LevelWarn, "connection to the peer port rejected", "", err, remote)
		}
		return
	}
	s.log.write(slog.LevelInfo, "peer connected", peer.ID, nil, remote, slog.String("version", peer.Version))
	c.in, c.out = in, &frameWriter{conn: upper, clock: s.clock}
	c.in.beforeWait = c.beforeWait
	c.feeder = newFeeder(s.options.Feed, min(peer.max, maxProtocol))
	if err := c.loop(); !errors.Is(err, io.EOF) && !s.isClosing() {
		s.log.write(slog.LevelWarn, "connection of a peer lost", peer.ID, err, remote)
	}
}

func (c *conn) loop() error {
	for {
		k, body, arrived, err := c.in.next()
		if err != nil && c.interrupted(err) {
			continue
		}
		if err != nil {
			return err
		}
		switch k {
		case frameCalls:
			err = c.calls(body, arrived)
		case framePing:
			err = c.ping(body)
		case frameState:
			c.merge(body)
		case frameFeed:
			c.learn(body)
		default:
			err = fmt.Errorf("%w: kind %d from a client", errMalformed, k)
		}
		if err == nil && (len(c.buf) >= bufferBytes || !c.in.ready()) {
			err = c.flush()
		}
		if err != nil {
			return err
		}
	}
}

func (c *conn) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	err := c.write(c.buf)
	c.buf = reuse(c.buf)
	return err
}

// calls decides a batch.
func (c *conn) calls(body []byte, arrived time.Duration) error {
	s, d := c.server, decoder{rest: body}
	c.theirs = d.uint64()
	for n := 0; len(d.rest) > 0; n++ {
		e, err := nextEntry(&d)
		if err != nil {
			return err
		}
		if n >= maxCallsPerFrame {
			return fmt.Errorf("%w: more than %d calls", errMalformed, maxCallsPerFrame)
		}
		code, later := c.decide(&e, arrived)
		results := c.results[:len(c.space.call.Charges)]
		if later != nil {
			if c.answerLater(e.slot, e.left-(s.clock.now()-arrived), later, slices.Clone(results)) {
				continue
			}
			code = CodeNotKept // it may be, and nobody waits to see
		}
		if len(c.replies) >= frameBytes {
			c.closeReplies()
		}
		c.replies = appendReply(c.replies, e.slot, code, results)
	}
	if d.bad {
		return errMalformed
	}
	c.closeReplies()
	return nil
}

// decide answers one call.
func (c *conn) decide(e *entry, arrived time.Duration) (Code, Later) {
	s := c.server
	c.space.call.Charges = nil
	s.stats.calls.Add(1)
	switch {
	case s.clock.now()-arrived >= e.left:
		s.stats.late.Add(1)
		return CodeLate, nil
	case s.isClosing():
		return CodeClosing, nil
	case !c.space.decode(e.call, &s.zones):
		s.stats.invalid.Add(1)
		return CodeInvalid, nil
	}
	results := c.results[:len(c.space.call.Charges)]
	clear(results)
	return s.options.Handler.Handle(&c.space.call, results)
}

// closeReplies puts the replies so far into a frame. What the peer does not
// know goes before it: one that is told CodeNotOwner must know our placement
// by the time it reads that.
func (c *conn) closeReplies() {
	if len(c.replies) == 0 {
		return
	}
	digest := c.handOver()
	start := len(c.buf)
	c.buf = openFrame(c.buf, frameReplies)
	c.buf = binary.LittleEndian.AppendUint64(c.buf, digest)
	c.buf = closeFrame(append(c.buf, c.replies...), start)
	c.replies = c.replies[:0]
}

// handOver sends what is new in the feed, and the placement if the peer's
// digest differs, and returns our digest.
func (c *conn) handOver() uint64 {
	c.buf = c.feeder.append(c.buf)
	placement := c.server.options.Placement
	mine := placement.Digest()
	if c.exchange.due(c.server.clock.now(), mine, c.theirs) {
		c.buf = appendState(c.buf, placement.State())
	}
	return mine
}

func (c *conn) ping(body []byte) error {
	digest, seq, err := decodePing(body)
	if err != nil {
		return err
	}
	c.theirs = digest
	c.buf = appendPing(c.buf, framePong, c.handOver(), seq)
	return nil
}

func (c *conn) merge(state []byte) {
	if err := c.server.options.Placement.Merge(state); err != nil {
		c.server.log.write(slog.LevelWarn, "a peer's placement was not taken in", "", err)
	}
}

func (c *conn) learn(records []byte) {
	if err := c.feeder.merge(records); err != nil {
		c.server.log.write(slog.LevelWarn, "the records of a peer were not taken in", "", err)
	}
}

// beforeWait says goodbye once the server is closing, and then sees to it
// that the wait for the peer to leave ends. A server that closes interrupts
// the wait after it says so: whichever comes first here, goodbye is said.
func (c *conn) beforeWait() error {
	if !c.server.isClosing() {
		return nil
	}
	if c.left.IsZero() {
		c.left = time.Now().Add(lingerFor)
		c.buf = closeFrame(openFrame(c.buf, frameBye), len(c.buf))
		if err := c.flush(); err != nil {
			return err
		}
	}
	return c.raw.SetReadDeadline(c.left)
}

// interrupted reports whether err is the wake-up of a server that began to
// close, and not the end of the connection.
func (c *conn) interrupted(err error) bool {
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() || !c.server.isClosing() || c.woken {
		return false
	}
	c.woken = true
	c.in.resume()
	return true
}
