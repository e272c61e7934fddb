package transport

import (
	"net"
	"time"
)

// frameWriter puts frames on a connection. A peer that does not read for
// frameTimeout breaks it.
type frameWriter struct {
	conn  net.Conn
	clock clock
	limit time.Duration // the write deadline in force
}

// write sends whole frames. After an error the connection is of no use.
func (w *frameWriter) write(frames []byte) error {
	// Moving the deadline costs as much as a small write, so it moves only
	// when less than three quarters are left.
	if now := w.clock.now(); w.limit-now < frameTimeout*3/4 {
		w.limit = now + frameTimeout
		if err := w.conn.SetWriteDeadline(w.clock.start.Add(w.limit)); err != nil {
			return err
		}
	}
	_, err := w.conn.Write(frames)
	return err
}

// reuse returns buf for reuse, unless one large frame has made it large.
func reuse(buf []byte) []byte {
	if cap(buf) > 4*bufferBytes {
		return nil
	}
	return buf[:0]
}
