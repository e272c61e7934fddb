package transport

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// lateReplies are answers of a connection that were not known when it read
// on. Each is written once it is known; those that become known while others
// are written share the next frame.
type lateReplies struct {
	waiting sync.WaitGroup
	writing sync.Mutex // one writes at a time, the connection's reader included

	mu    sync.Mutex
	due   int      // calls that are not answered yet
	known [][]byte // replies that are not written yet
}

// maxLate bounds the calls of one connection that wait, each in a goroutine.
// It is more than the window that a client has if it is not told otherwise.
const maxLate = 8192

// answerLater answers a call once later knows its code, at most after what is
// left of its time. It reports whether there was room for one more.
func (c *conn) answerLater(slot uint64, left time.Duration, later Later, results []limiter.Result) bool {
	l := &c.late
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.due >= maxLate {
		return false
	}
	l.due++
	l.waiting.Go(func() {
		reply := appendReply(nil, slot, later(left), results)
		l.mu.Lock()
		l.due--
		l.known = append(l.known, reply)
		l.mu.Unlock()
		if err := c.writeLate(); err != nil {
			_ = c.raw.Close() // which ends the reader
		}
	})
	return true
}

// writeLate writes what is known, unless somebody has meanwhile.
func (c *conn) writeLate() error {
	l := &c.late
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	known := l.known
	l.known = nil
	l.mu.Unlock()
	for len(known) > 0 {
		frame := binary.LittleEndian.AppendUint64(openFrame(nil, frameReplies), c.server.options.Placement.Digest())
		for len(known) > 0 && len(frame) < frameBytes {
			frame, known = append(frame, known[0]...), known[1:]
		}
		if err := c.out.write(closeFrame(frame, 0)); err != nil {
			return err
		}
	}
	return nil
}

// write writes frames of the reader's.
func (c *conn) write(frames []byte) error {
	c.late.writing.Lock()
	defer c.late.writing.Unlock()
	return c.out.write(frames)
}
