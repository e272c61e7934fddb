package murmurate

import (
	"maps"
	"sync"
	"time"
)

const (
	// logInterval is how often what goes on is logged again.
	logInterval = 10 * time.Second
	// logMemory is how long something is remembered after its last line.
	logMemory = 10 * time.Minute
)

// sampler thins out log lines about things that happen often: the first line
// about a thing at once, then one per interval with the count since the last.
// The zero value is ready for use.
type sampler[K comparable] struct {
	mu    sync.Mutex
	known map[K]*sampled // those of long ago are forgotten
}

type sampled struct {
	logged  time.Time
	skipped int
}

// due says whether a line about thing is due at now, and how many that were
// left out it stands for.
func (s *sampler[K]) due(thing K, now time.Time) (skipped int, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = make(map[K]*sampled)
	}
	last := s.known[thing]
	if last == nil {
		maps.DeleteFunc(s.known, func(_ K, old *sampled) bool { return now.Sub(old.logged) > logMemory })
		last = &sampled{}
		s.known[thing] = last
	}
	if !last.logged.IsZero() && now.Sub(last.logged) < logInterval {
		last.skipped++
		return 0, false
	}
	skipped, last.skipped, last.logged = last.skipped, 0, now
	return skipped, true
}
