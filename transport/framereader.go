package transport

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// clock tells instants as durations since it was made.
type clock struct{ start time.Time }

func newClock() clock { return clock{start: time.Now()} }

func (c clock) now() time.Duration { return time.Since(c.start) }

// frameReader takes frames off a connection. Frames that fit its buffer are
// not copied.
type frameReader struct {
	// limit bounds the body of the next frame.
	limit int
	// patience is how long a frame may take from its first byte to its last.
	// 0: the connection's own deadline holds.
	patience time.Duration
	// beforeWait is called before each wait for the first byte of a frame.
	beforeWait func() error

	conn    net.Conn
	source  stampedReader
	buf     *bufio.Reader
	used    int // bytes of the last frame, still in buf
	limited bool
}

func newFrameReader(conn net.Conn, c clock) *frameReader {
	r := &frameReader{conn: conn, limit: maxHelloBytes}
	r.source = stampedReader{from: conn, clock: c, last: c.now()}
	r.buf = bufio.NewReaderSize(&r.source, bufferBytes)
	return r
}

// stampedReader notes when the bytes that wait in the buffer above it came,
// at the earliest.
type stampedReader struct {
	from   io.Reader
	clock  clock
	stalls *stallWatch // nil: nobody asks when the bytes came
	at     time.Duration
	last   time.Duration // when the last read returned
}

// atOnce is less than a read takes that has to wait.
const atOnce = 50 * time.Microsecond

// Read reads. Bytes that were there at once may have waited for this process
// since it last read, and those that come after a stop of the process since
// it began: they are dated back to then.
func (s *stampedReader) Read(p []byte) (int, error) {
	before := s.clock.now()
	n, err := s.from.Read(p)
	now := s.clock.now()
	s.at = now
	if now-before < atOnce {
		s.at = s.last
	}
	if s.stalls != nil {
		s.at = min(s.at, s.stalls.earliest(now))
	}
	s.last = now
	return n, err
}

// next waits for a frame. arrived is when its first byte came,
// as early as that can have been. body is valid until the next call.
func (r *frameReader) next() (k kind, body []byte, arrived time.Duration, err error) {
	if _, err = r.buf.Discard(r.used); err != nil {
		return 0, nil, 0, err
	}
	r.used = 0
	if err = r.waitForFirst(); err != nil {
		return 0, nil, 0, err
	}
	arrived = r.source.at
	if first, _ := r.peek(1); !kind(first[0]).known() { // waitForFirst saw to it that there is one
		return 0, nil, 0, fmt.Errorf("%w: kind %d", errMalformed, first[0])
	}
	header, err := r.peek(headerBytes)
	if err != nil {
		return 0, nil, 0, err
	}
	k, n := parseHeader(header)
	if n > r.limit {
		return 0, nil, 0, fmt.Errorf("%w: kind %d, %d bytes, at most %d allowed", errMalformed, k, n, r.limit)
	}
	if headerBytes+n > r.buf.Size() {
		body, err = r.readLong(n)
		return k, body, arrived, err
	}
	frame, err := r.peek(headerBytes + n)
	if err != nil {
		return 0, nil, 0, err
	}
	r.used = len(frame)
	return k, frame[headerBytes:], arrived, nil
}

// waitForFirst waits, as long as it takes, until a frame begins.
func (r *frameReader) waitForFirst() error {
	if r.buf.Buffered() > 0 {
		return nil
	}
	if r.limited {
		r.limited = false
		if err := r.conn.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
	}
	if r.beforeWait != nil {
		if err := r.beforeWait(); err != nil {
			return err
		}
	}
	_, err := r.buf.Peek(1)
	return err
}

// peek returns the first n bytes of the frame that has begun.
func (r *frameReader) peek(n int) ([]byte, error) {
	if r.buf.Buffered() < n {
		if err := r.hurry(); err != nil {
			return nil, err
		}
	}
	b, err := r.buf.Peek(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// resume makes next usable after the connection's read deadline was moved to
// interrupt it. A long frame cannot be resumed: its error is no timeout.
func (r *frameReader) resume() { r.limited = false }

// hurry sets the deadline of the frame that has begun.
func (r *frameReader) hurry() error {
	if r.limited || r.patience == 0 {
		return nil
	}
	r.limited = true
	return r.conn.SetReadDeadline(time.Now().Add(r.patience))
}

// readLong reads a frame that does not fit the buffer. It takes memory only
// as the bytes come, not as they are announced.
func (r *frameReader) readLong(n int) ([]byte, error) {
	if err := r.hurry(); err != nil {
		return nil, err
	}
	if _, err := r.buf.Discard(headerBytes); err != nil {
		return nil, err
	}
	var body []byte
	for len(body) < n {
		part := min(n-len(body), bufferBytes)
		start := len(body)
		body = append(body, make([]byte, part)...)
		if _, err := io.ReadFull(r.buf, body[start:]); err != nil {
			return nil, fmt.Errorf("%w: %d bytes, cut short: %s", errMalformed, n, err.Error())
		}
	}
	return body, nil
}

// startsLikeTLS waits for the first byte of the connection.
func (r *frameReader) startsLikeTLS() bool {
	first, err := r.buf.Peek(1)
	return err == nil && looksLikeTLS(first[0])
}

// ready reports whether next would return without waiting.
func (r *frameReader) ready() bool {
	have := r.buf.Buffered() - r.used
	if have < headerBytes {
		return false
	}
	frame, err := r.buf.Peek(r.used + headerBytes)
	if err != nil {
		return false
	}
	_, n := parseHeader(frame[r.used:])
	return have-headerBytes >= n
}
