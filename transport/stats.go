package transport

import "sync/atomic"

// ClientStats counts what a [Client] did since it was made.
type ClientStats struct {
	// Calls were accepted for sending; Late of them were given up by their
	// callers before an answer came.
	Calls, Late uint64
	// Frames carried the calls that were sent.
	Frames uint64
	// Sessions were opened.
	Sessions uint64
}

type clientCounters struct{ calls, late, frames, sessions atomic.Uint64 }

// Stats returns the counts so far.
func (c *Client) Stats() ClientStats {
	return ClientStats{
		Calls:    c.stats.calls.Load(),
		Late:     c.stats.late.Load(),
		Frames:   c.stats.frames.Load(),
		Sessions: c.stats.sessions.Load(),
	}
}

// ServerStats counts what a [Server] did since it was made.
type ServerStats struct {
	// Connections are open now.
	Connections int
	// Rejected connections failed to introduce themselves, were not wanted,
	// or came when there were too many.
	Rejected uint64
	// Calls were received; Late of them had passed their deadline and
	// Invalid ones made no sense.
	Calls, Late, Invalid uint64
}

type serverCounters struct{ rejected, calls, late, invalid atomic.Uint64 }

// Stats returns the counts so far.
func (s *Server) Stats() ServerStats {
	s.mu.Lock()
	open := len(s.conns)
	s.mu.Unlock()
	return ServerStats{
		Connections: open,
		Rejected:    s.stats.rejected.Load(),
		Calls:       s.stats.calls.Load(),
		Late:        s.stats.late.Load(),
		Invalid:     s.stats.invalid.Load(),
	}
}
