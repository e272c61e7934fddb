package transport

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Why a session ends, beside the errors of its connection.
var (
	errClosed  = errors.New("closed by this node")
	errSilent  = errors.New("the peer has not answered for a second")
	errLeaving = errors.New("the peer is shutting down")
)

// session is one connection to the peer, from hello to the end. One
// goroutine writes, one reads.
type session struct {
	client *Client
	conn   net.Conn // below any TLS: closing it never blocks
	in     *frameReader
	out    frameWriter
	speaks uint8         // protocol version
	wake   chan struct{} // holds a token when the writer has something to look at
	ending chan struct{} // closed by end
	once   sync.Once
	cause  error // set before ending is closed

	mu       sync.Mutex
	health   health
	queue    callQueue
	slots    slotTable
	pings    pingLog
	lastSent time.Duration
	exchange exchange
	state    bool // the peer is to be sent the placement
	leaving  bool // the peer said goodbye
	over     bool // nothing more is accepted
}

// prepare encodes the call into p.
func (p *pending) prepare(call *limiter.Call, results []limiter.Result) (err error) {
	if len(results) != len(call.Charges) {
		return errors.New("transport: one result for each charge is needed")
	}
	p.charges = len(results)
	p.protocol = protocolOf(call)
	p.call, err = appendCall(p.call[:0], call)
	return err
}

// enqueue accepts a call for sending, if the session is up.
func (s *session) enqueue(p *pending) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.client.clock.now()
	switch {
	case s.speaks < p.protocol:
		return ErrOldPeer
	case s.over || s.leaving || !s.health.up(now):
		return ErrDown
	case p.deadline <= now:
		return ErrDeadline
	case s.queue.n >= s.client.options.Queue:
		return ErrQueueFull
	}
	p.progress = queued
	s.queue.push(p)
	s.nudge()
	return nil
}

// left says where a call was when its caller left.
type left uint8

const (
	leftQueued   left = iota // it is the caller's again, and is never sent
	leftSent                 // it stays with the session until it is answered
	leftFinished             // it is the caller's: the answer was there already
)

// leave gives a call up.
func (s *session) leave(p *pending) left {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch p.progress {
	case queued:
		s.queue.remove(p)
		return leftQueued
	case done:
		return leftFinished
	default:
		p.progress = abandoned
		return leftSent
	}
}

func (s *session) up() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.over && !s.leaving && s.health.up(s.client.clock.now())
}

// nudge makes the writer look again.
func (s *session) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// end closes the connection. The first cause counts.
func (s *session) end(cause error) {
	s.once.Do(func() {
		s.cause = cause
		close(s.ending)
		_ = s.conn.Close() // nothing can be done about a connection that is given up
	})
}

// run keeps the session until it ends, fails what is left of its calls and
// returns why.
func (s *session) run() error {
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.end(s.read())
	}()
	s.end(s.write())
	<-read
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.dropQueue()
	for slot := range s.slots.calls {
		if p := s.slots.take(uint64(slot)); p != nil {
			s.settle(p, ErrBroken)
		}
	}
	return s.cause
}

// dropQueue fails what was not sent. The caller holds the lock.
func (s *session) dropQueue() {
	for p := s.queue.first; p != nil; p = s.queue.first {
		s.queue.remove(p)
		p.finish(ErrDown)
	}
}

// settle brings a sent call to its end. The caller holds the lock.
func (s *session) settle(p *pending, err error) {
	if p.progress == abandoned {
		s.client.pool.Put(p)
		return
	}
	p.finish(err)
}
