package transport

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"
)

// One line for each text in sampleEvery, and for at most sampleTexts texts.
const (
	sampleEvery = 10 * time.Second
	sampleTexts = 32
)

// sampledLog writes lines that strangers and faults can provoke at any rate:
// of equal lines one each sampleEvery, with the number of all lines that were
// left out before.
type sampledLog struct {
	logger *slog.Logger
	clock  clock

	mu      sync.Mutex
	begun   time.Duration
	written map[string]bool // texts, in this period
	omitted int             // lines since the last that said so
}

func newSampledLog(l *slog.Logger, c clock) *sampledLog {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return &sampledLog{logger: l, clock: c, written: make(map[string]bool)}
}

// write logs message about a peer (its id; empty: not known) with err,
// unless that was said a moment ago.
func (s *sampledLog) write(level slog.Level, message, peer string, err error, attrs ...slog.Attr) {
	text := message + peer
	if peer != "" {
		attrs = append(attrs, slog.String("peer", peer))
	}
	if err != nil {
		text += kindOf(err)
		attrs = append(attrs, slog.Any("error", err))
	}
	omitted, ok := s.admit(text)
	if !ok {
		return
	}
	if omitted > 0 {
		attrs = append(attrs, slog.Int("lines_omitted", omitted))
	}
	s.logger.LogAttrs(context.Background(), level, message, attrs...)
}

// admit reports whether a line may be written, and how many were left out
// before it.
func (s *sampledLog) admit(text string) (omitted int, ok bool) {
	now := s.clock.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now-s.begun >= sampleEvery {
		s.begun = now
		clear(s.written)
	}
	if s.written[text] || len(s.written) >= sampleTexts {
		s.omitted++
		return 0, false
	}
	s.written[text] = true
	omitted, s.omitted = s.omitted, 0
	return omitted, true
}

// kindOf is the text of err without the addresses of a connection, of which
// one is new each time.
func kindOf(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Op + op.Err.Error()
	}
	return err.Error()
}
