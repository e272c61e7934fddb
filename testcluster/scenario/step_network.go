package scenario

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// cut parts two groups of nodes, or only what the first sends to the second.
type cut struct {
	from, to []string
	oneWay   bool
}

func parseCut(w *words) step {
	text := w.argument("what to cut")
	for _, sign := range []string{"|", ">"} {
		if from, to, ok := strings.Cut(text, sign); ok {
			return &cut{w.nodeList(from), w.nodeList(to), sign == ">"}
		}
	}
	w.refuse("what to cut must be 1|2,3 (both ways) or 1>2 (what 1 sends to 2), got %q", text)
	return nil
}

func (c *cut) run(r *run) (answer, error) {
	return nil, r.disturb(func() {
		if c.oneWay {
			r.nodes.CutOneWay(c.from, c.to)
		} else {
			r.nodes.Cut(c.from, c.to)
		}
		r.health.cut = true
	})
}

type heal struct{}

func parseHeal(*words) step { return heal{} }

func (heal) run(r *run) (answer, error) {
	return nil, r.disturb(func() {
		r.nodes.Heal()
		r.health.cut = false
	})
}

type setDelay struct{ base, jitter time.Duration }

func parseDelay(w *words) step {
	return &setDelay{w.duration("the delay", w.argument("the delay")), w.duration("jitter", w.option("jitter", "0s"))}
}

func (s *setDelay) run(r *run) (answer, error) {
	return nil, r.disturb(func() {
		r.nodes.Delay(s.base, s.jitter)
		// A call goes there and back, perhaps by way of a redirect.
		r.health.late = 4*(s.base+s.jitter) > r.cluster.Deadline
	})
}

// fraction is a probability in percent.
func (w *words) fraction() float64 {
	text := w.argument("the percentage")
	number, percent := strings.CutSuffix(text, "%")
	p, err := strconv.ParseFloat(number, 64)
	if err != nil || !percent || p < 0 || p > 100 {
		w.refuse("must be 0%% to 100%%, got %q", text)
	}
	return p / 100
}

type setLoss struct{ fraction float64 }

func parseLoss(w *words) step { return &setLoss{w.fraction()} }

func (s *setLoss) run(r *run) (answer, error) {
	return nil, r.disturb(func() {
		r.nodes.Loss(s.fraction)
		r.health.lossy = s.fraction > 0
	})
}

type setDuplicate struct{ fraction float64 }

func parseDuplicate(w *words) step { return &setDuplicate{w.fraction()} }

// Duplicates are harmless: they end no healthy spell.
func (s *setDuplicate) run(r *run) (answer, error) {
	if r.nodes == nil {
		return nil, errNoNodes
	}
	r.nodes.Duplicate(s.fraction)
	return nil, nil
}

// setSlow delays what one node sends and receives. 0s ends it.
type setSlow struct {
	name  string
	extra time.Duration
}

func parseSlow(w *words) step {
	return &setSlow{w.node("the node"), w.duration("how slow", w.argument("how slow"))}
}

func (s *setSlow) run(r *run) (answer, error) {
	return nil, r.disturb(func() {
		r.nodes.Slow(s.name, s.extra)
		if r.health.slow == nil {
			r.health.slow = make(map[string]bool)
		}
		if r.health.slow[s.name] = s.extra > 0; s.extra == 0 {
			delete(r.health.slow, s.name)
		}
	})
}

var errNoNodes = errors.New("there is no node yet: start some first")

// disturb does something to the network.
func (r *run) disturb(do func()) error {
	if r.nodes == nil {
		return errNoNodes
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
	r.health.disturbed(false)
	return nil
}
