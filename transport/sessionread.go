package transport

import (
	"fmt"
	"log/slog"
	"time"
)

// read takes in what the peer sends until the session ends.
func (s *session) read() error {
	var r reply
	for {
		k, body, _, err := s.in.next()
		if err != nil {
			return explain(err)
		}
		switch k {
		case frameReplies:
			err = s.replies(body, &r)
		case framePong:
			err = s.pong(body)
		case frameState:
			s.merge(body)
		case frameFeed:
			s.learn(body)
		case frameBye:
			s.bye()
		default:
			err = fmt.Errorf("%w: kind %d from a server", errMalformed, k)
		}
		if err != nil {
			return err
		}
	}
}

// replies hands each answer of a frame to its caller.
func (s *session) replies(body []byte, r *reply) error {
	d := decoder{rest: body}
	digest := d.uint64()
	for len(d.rest) > 0 {
		if err := r.next(&d); err != nil {
			return err
		}
		if err := s.answer(r); err != nil {
			return err
		}
	}
	if d.bad {
		return errMalformed
	}
	s.compare(digest)
	return nil
}

func (s *session) answer(r *reply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.slots.take(r.slot)
	if p == nil {
		return fmt.Errorf("%w: an answer to nothing", errMalformed)
	}
	s.alive(p.sentAt)
	var err error
	switch {
	case r.code != CodeOK:
		err = &RefusedError{Code: r.code}
	case len(r.results) != p.charges:
		s.settle(p, ErrBroken)
		return fmt.Errorf("%w: %d results for %d limits", errMalformed, len(r.results), p.charges)
	}
	p.results = append(p.results[:0], r.results...)
	s.settle(p, err)
	if s.queue.n > 0 || s.leaving {
		s.nudge() // the window has room, or the last answer was awaited
	}
	return nil
}

func (s *session) pong(body []byte) error {
	digest, seq, err := decodePing(body)
	if err != nil {
		return err
	}
	s.mu.Lock()
	at, ok := s.pings.answer(seq)
	if ok {
		s.alive(at)
	}
	s.mu.Unlock()
	if !ok {
		return fmt.Errorf("%w: an answer to no ping", errMalformed)
	}
	s.compare(digest)
	return nil
}

// alive notes that what was sent at sentAt has been answered. The caller
// holds the lock.
func (s *session) alive(sentAt time.Duration) {
	s.health.answered(s.client.clock.now(), sentAt, s.slots.used > 0 || s.pings.open())
}

// compare has the placement sent if the peer's digest differs from ours.
func (s *session) compare(theirs uint64) {
	mine := s.client.options.Placement.Digest()
	if mine == theirs {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exchange.due(s.client.clock.now(), mine, theirs) {
		s.state = true
		s.nudge()
	}
}

func (s *session) merge(state []byte) {
	if err := s.client.options.Placement.Merge(state); err != nil {
		s.client.log.write(slog.LevelWarn, "the peer's placement was not taken in", s.client.options.Peer, err)
	}
}

// learn takes in records of the peer's feed. An idle session on demand would not
// hear the rest of a long one, so it asks.
func (s *session) learn(records []byte) {
	if s.client.options.OnDemand {
		s.refresh()
	}
	if err := s.feeder.merge(records); err != nil {
		s.client.log.write(slog.LevelWarn, "the records of the peer were not taken in", s.client.options.Peer, err)
	}
}

// bye stops sending. The writer ends the session when the last answer is there.
func (s *session) bye() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
	s.dropQueue()
	s.nudge()
}
