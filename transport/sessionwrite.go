package transport

import (
	"encoding/binary"
	"runtime"
	"time"
)

// write sends what there is to send until the session ends. There is no
// batch timer: a call goes out at once when the writer is idle, and what
// arrives while it writes goes into the next frame.
func (s *session) write() error {
	timer := time.NewTimer(pingEvery)
	defer timer.Stop()
	armed := true
	var buf []byte
	for {
		frames, wait, err := s.compose(buf)
		if err != nil {
			return err
		}
		if len(frames) > 0 {
			if err := s.out.write(frames); err != nil {
				return err
			}
			buf = reuse(frames)
			continue
		}
		if wait > 0 && !armed {
			timer.Reset(wait)
			armed = true
		}
		select {
		case <-s.ending:
			return s.cause
		case <-s.wake:
			// The answers of one frame wake many callers, and the first of
			// them woke this writer: let the others add their next calls.
			runtime.Gosched()
		case <-timer.C:
			armed = false
		}
	}
}

// compose appends to buf what is to be sent now. If that is nothing, wait is
// when to look again at the latest; 0: only when nudged.
func (s *session) compose(buf []byte) (frames []byte, wait time.Duration, err error) {
	placement := s.client.options.Placement
	s.mu.Lock()
	state := s.state
	s.state = false
	s.mu.Unlock()
	if state {
		buf = appendState(buf, placement.State())
	}
	buf = s.feeder.append(buf)
	digest := placement.Digest()

	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.client.clock.now()
	switch {
	case s.leaving && s.slots.used == 0:
		return nil, 0, errLeaving
	case s.health.age(now) >= max(giveUpAfter, s.health.silence):
		return nil, 0, errSilent
	}
	before := len(buf)
	buf = s.appendBatch(buf, digest, now)
	if len(buf) == before && (s.asked || s.health.beating(now)) {
		if wait = s.lastSent + pingEvery - now; wait <= 0 {
			buf = appendPing(buf, framePing, digest, s.pings.next(now))
		}
	}
	if len(buf) > before {
		s.lastSent, s.asked = now, false
		s.health.sent(now)
	}
	return buf, wait, nil
}

// appendBatch writes a frame of the calls that wait, as far as the window
// and the size of a frame allow. The caller holds the lock: until the frame
// is encoded, no answer may free a call's memory.
func (s *session) appendBatch(buf []byte, digest uint64, now time.Duration) []byte {
	start := len(buf)
	for n := 0; n < maxCallsPerFrame; {
		p := s.queue.first
		if p == nil || s.slots.used >= s.client.options.Window || len(buf)-start >= frameBytes {
			break
		}
		s.queue.remove(p)
		left := p.deadline - now
		if left < time.Microsecond {
			p.finish(ErrDeadline)
			continue
		}
		if n == 0 {
			buf = openFrame(buf, frameCalls)
			buf = binary.LittleEndian.AppendUint64(buf, digest)
		}
		p.progress, p.sentAt = sent, now
		buf = appendEntry(buf, s.slots.put(p), left, p.call)
		n++
	}
	if len(buf) > start {
		buf = closeFrame(buf, start)
		s.client.stats.frames.Add(1)
	}
	return buf
}
