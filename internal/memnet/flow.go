package memnet

import (
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// windowBytes is how much may have been written to a flow and not been read.
const windowBytes = 64 << 10

// flow is one direction of a stream. The network's lock guards it, apart
// from the two sides' turns.
type flow struct {
	network  *Network
	from, to netip.Addr
	back     *flow // the other direction

	arrived  buffer
	inFlight []segment // in the order of their instants
	unread   int       // bytes arrived or in flight
	last     time.Time // the newest instant of arrival
	held     bool      // nothing arrives at present
	ended    error     // what the reader finds behind the last byte; nil: more may come

	writer, reader side
	closed         error // what writes return once the writer has closed; nil: it has not
	abandoned      bool  // the reader has closed
}

// segment is what was written at one time, or the end of the flow.
type segment struct {
	bytes []byte
	end   error
	at    time.Time // when it arrives
}

// side is what the reader's and the writer's ends of a flow have alike.
type side struct {
	turns
	deadline time.Time
}

func newFlow(n *Network, from, to netip.Addr) *flow {
	return &flow{
		network: n, from: from, to: to,
		held:   n.blocked(from, to),
		writer: side{turns: newTurns()},
		reader: side{turns: newTurns()},
	}
}

// write writes all of p.
func (f *flow) write(p []byte) (n int, err error) {
	f.writer.enter()
	defer f.writer.leave()
	for {
		f.network.mu.Lock()
		sent, err := f.send(p[n:])
		until := f.writer.deadline
		f.network.mu.Unlock()
		if n += sent; err != nil || n == len(p) {
			return n, err
		}
		f.writer.sleep(until)
	}
}

// send takes what fits the window. The caller holds the lock, here and below.
func (f *flow) send(p []byte) (int, error) {
	now := time.Now()
	switch {
	case f.closed != nil:
		return 0, f.closed
	case f.writer.expired(now):
		return 0, os.ErrDeadlineExceeded
	case f.abandoned && f.back.over(now):
		return 0, syscall.EPIPE
	case f.abandoned: // which this side has not heard yet
		return len(p), nil
	}
	p = p[:min(len(p), windowBytes-f.unread)]
	if len(p) == 0 {
		return 0, nil
	}
	f.unread += len(p)
	at, wait := f.arrival(now)
	if wait {
		f.inFlight = append(f.inFlight, segment{bytes: append([]byte(nil), p...), at: at})
	} else {
		f.arrived.add(p)
	}
	f.reader.wake()
	return len(p), nil
}

// finish ends the flow with what the reader is to find behind the last byte.
func (f *flow) finish(end, closed error) {
	if f.closed == nil {
		at, wait := f.arrival(time.Now())
		if wait {
			f.inFlight = append(f.inFlight, segment{end: end, at: at})
		} else {
			f.ended = end
		}
		f.reader.wake()
	}
	f.closed = closed
	f.writer.wake()
}

// arrival is when something arrives that is sent now, and whether that is
// later than now, or behind something that is.
func (f *flow) arrival(now time.Time) (at time.Time, wait bool) {
	n := f.network
	at = now.Add(n.delay(f.from, f.to) + n.retransmission(retransmitAfter))
	if at.Before(f.last) {
		at = f.last
	}
	f.last = at
	f.arrive(now)
	return at, f.held || len(f.inFlight) > 0 || at.After(now)
}

// arrive takes in what has arrived by now.
func (f *flow) arrive(now time.Time) {
	if f.held {
		return
	}
	for len(f.inFlight) > 0 && !f.inFlight[0].at.After(now) {
		s := f.inFlight[0]
		f.inFlight[0] = segment{}
		f.inFlight = f.inFlight[1:]
		f.arrived.add(s.bytes)
		f.ended = s.end
	}
	if len(f.inFlight) == 0 {
		f.inFlight = nil
	}
}

// over reports whether the end has arrived.
func (f *flow) over(now time.Time) bool {
	f.arrive(now)
	return f.ended != nil
}

// reroute holds the flow, or lets it go on, as the network's faults say. What
// was on its way is sent anew then.
func (f *flow) reroute(now time.Time) {
	held := f.network.blocked(f.from, f.to)
	if held == f.held {
		return
	}
	f.arrive(now)
	f.held = held
	if held {
		return
	}
	f.last = now
	for i := range f.inFlight {
		at := now.Add(f.network.delay(f.from, f.to))
		if at.Before(f.last) {
			at = f.last
		}
		f.inFlight[i].at, f.last = at, at
	}
	f.reader.wake()
}

// read waits for bytes, or for the end.
func (f *flow) read(p []byte) (int, error) {
	f.reader.enter()
	defer f.reader.leave()
	for {
		f.network.mu.Lock()
		n, err := f.receive(p)
		until := f.nextLook()
		f.network.mu.Unlock()
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		f.reader.sleep(until)
	}
}

// receive takes what has arrived.
func (f *flow) receive(p []byte) (int, error) {
	now := time.Now()
	switch {
	case f.abandoned:
		return 0, net.ErrClosed
	case f.reader.expired(now):
		return 0, os.ErrDeadlineExceeded
	}
	f.arrive(now)
	if f.arrived.len() == 0 {
		return 0, f.ended
	}
	if f.unread == windowBytes {
		f.writer.wake()
	}
	n := f.arrived.take(p)
	f.unread -= n
	return n, nil
}

// nextLook is when a reader that found nothing has to look again at the
// latest; zero: only when it is woken.
func (f *flow) nextLook() time.Time {
	until := f.reader.deadline
	if !f.held && len(f.inFlight) > 0 && (until.IsZero() || f.inFlight[0].at.Before(until)) {
		until = f.inFlight[0].at
	}
	return until
}

// recall takes back what was sent and has not arrived.
func (f *flow) recall() {
	f.arrive(time.Now())
	f.inFlight, f.unread = nil, f.arrived.len()
}

// abandon closes the reader's side. What it has not read is gone.
func (f *flow) abandon() {
	f.abandoned = true
	f.arrived, f.inFlight, f.unread = buffer{}, nil, 0
	f.ended = io.EOF
	f.reader.wake()
	f.writer.wake()
}

func (s *side) expired(now time.Time) bool {
	return !s.deadline.IsZero() && !now.Before(s.deadline)
}
