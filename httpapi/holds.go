package httpapi

import (
	"sync"
	"time"
)

const (
	// maxHolds bounds how many keys are held back at once.
	maxHolds = 1024
	// maxHold bounds for how long one answer can hold a key back: some say
	// thousands of years.
	maxHold = time.Hour
)

// holds remembers until when the other side takes no requests, by key. The
// zero value holds nothing.
type holds struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// set holds key back for pause. Of two answers the later time counts: they
// may have overtaken each other.
func (h *holds) set(key string, now time.Time, pause time.Duration) {
	if pause <= 0 {
		return
	}
	until := now.Add(min(pause, maxHold))
	h.mu.Lock()
	defer h.mu.Unlock()
	if until.Before(h.until[key]) {
		return
	}
	if h.until == nil {
		h.until = make(map[string]time.Time)
	}
	if _, held := h.until[key]; !held && len(h.until) >= maxHolds {
		h.makeRoom(now)
	}
	h.until[key] = until
}

// makeRoom forgets what has ended, and if nothing has, what ends first.
func (h *holds) makeRoom(now time.Time) {
	var first string
	for key, until := range h.until {
		if !until.After(now) {
			delete(h.until, key)
		} else if end, ok := h.until[first]; !ok || until.Before(end) {
			first = key
		}
	}
	if len(h.until) >= maxHolds {
		delete(h.until, first)
	}
}

// pause is how long key is still held back, 0 or less if it is not.
func (h *holds) pause(key string, now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	until, held := h.until[key]
	if !held {
		return 0
	}
	if !until.After(now) {
		delete(h.until, key)
	}
	return until.Sub(now)
}
