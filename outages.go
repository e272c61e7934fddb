package murmurate

import (
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

const (
	// outageInterval is how often an outage that goes on is logged again.
	outageInterval = 10 * time.Second
	// outageMemory is how long an outage is remembered after its last line.
	outageMemory = 10 * time.Minute
)

// outages logs the checks that their owner did not decide: the first of an
// owner at once, then one line per interval with the count since the last.
type outages struct {
	log *slog.Logger

	mu    sync.Mutex
	known map[string]*outage // by owner id; those of long ago are forgotten
}

type outage struct {
	logged  time.Time
	skipped int
}

// report logs err, with which owner did not decide a call, or counts it for
// the next line.
func (o *outages) report(owner string, err error) {
	message := "owner out of reach: the policies' failure mode decides"
	if errors.Is(err, limiter.ErrFull) {
		message = "owner is full: new keys are refused, raise limiter.max_keys"
	}
	skipped, due := o.due(owner+message, time.Now())
	if due {
		o.log.Warn(message, "owner", owner, "error", err, "more_since_last_line", skipped)
	}
}

// due says whether a line is due at now, and how many it stands for.
func (o *outages) due(key string, now time.Time) (skipped int, due bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = make(map[string]*outage)
	}
	last := o.known[key]
	if last == nil {
		maps.DeleteFunc(o.known, func(_ string, old *outage) bool { return now.Sub(old.logged) > outageMemory })
		last = &outage{}
		o.known[key] = last
	}
	if !last.logged.IsZero() && now.Sub(last.logged) < outageInterval {
		last.skipped++
		return 0, false
	}
	skipped, last.skipped, last.logged = last.skipped, 0, now
	return skipped, true
}
