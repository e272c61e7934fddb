package cluster

import (
	"sync"
	"time"
)

const (
	// throttlePeriod is how often one kind of thing is logged at most.
	throttlePeriod = time.Minute
	// maxThrottled bounds what a throttle remembers.
	maxThrottled = 256
)

// throttle keeps a log from being filled by what repeats, or by who can make
// this node log.
type throttle struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// first reports whether key has not been asked for within throttlePeriod.
func (t *throttle) first(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if last, ok := t.last[key]; ok && now.Sub(last) < throttlePeriod {
		return false
	}
	if t.last == nil || len(t.last) >= maxThrottled {
		t.last = make(map[string]time.Time)
	}
	t.last[key] = now
	return true
}
