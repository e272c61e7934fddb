package scenario

import (
	"sync"
	"time"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/testcluster"
)

// memberState is what the scenario has done to a node.
type memberState int

const (
	running memberState = iota
	paused
	killed
	stopped // gracefully: it has left
)

// member is one node of the scenario, over all its boots.
type member struct {
	name    string
	node    *testcluster.Node // the newest boot
	options testcluster.NodeOptions
	state   memberState
	// unheard says that others may not know that a run of this node has ended
	// for good: it has left while they could not hear it, or has gone to
	// another cluster. Whether it keeps its place is then open.
	unheard bool
	// restless counts what happened to the node that voids the calls it was
	// making.
	restless int
	// busy counts the calls that are being made through the node.
	busy sync.WaitGroup
	// calls counts those made through it since the run began.
	calls int
	heard heard
}

func (m *member) owner() bool { return m.options.Role != cluster.RoleClient }

// placed reports whether the node has a place among the owners, as far as the
// scenario knows: a crash takes none away.
func (m *member) placed() bool { return m.owner() && m.state != stopped }

// heard is a murmurate.Observer that counts the forwards of one node.
type heard struct {
	mu       sync.Mutex
	forwards map[string]int // by outcome, since the run began
	told     map[string]int // the part of it that was said in answers
}

// Decision implements murmurate.Observer.
func (*heard) Decision(string, string, limiter.Source) {}

// Denied implements murmurate.Observer.
func (h *heard) Denied(string, string) {}

// UnknownTier implements murmurate.Observer.
func (h *heard) UnknownTier(string) {}

func (h *heard) QuotaUsed(string, string, float64, time.Duration) {}

// Settlement implements murmurate.Observer.
func (h *heard) Settlement(string) {}

// Forward implements murmurate.Observer.
func (h *heard) Forward(outcome string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.forwards == nil {
		h.forwards, h.told = make(map[string]int), make(map[string]int)
	}
	h.forwards[outcome]++
}

// total is how often outcome was heard.
func (h *heard) total(outcome cluster.Forwarded) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.forwards[string(outcome)]
}

// news is how often outcome was heard since the last news of it.
func (h *heard) news(outcome cluster.Forwarded) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.forwards[string(outcome)] - h.told[string(outcome)]
	if n > 0 {
		h.told[string(outcome)] += n
	}
	return n
}
