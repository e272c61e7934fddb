package murmurate

import (
	"errors"
	"log/slog"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// outages logs the checks that their owner did not decide, sampled by owner, and
// what nobody could settle.
type outages struct {
	log   *slog.Logger
	lines sampler[outage]
}

type outage struct{ owner, message string }

// report logs err, with which owner did not decide a call, or counts it for
// the next line.
func (o *outages) report(owner string, err error) {
	message := "owner out of reach: the policies' failure mode decides"
	if errors.Is(err, limiter.ErrFull) {
		message = "owner is full: new keys are refused, raise limiter.max_keys"
	}
	if skipped, due := o.lines.due(outage{owner, message}, time.Now()); due {
		o.log.Warn(message, "owner", owner, "error", err, "more_since_last_line", skipped)
	}
}

// unsettled logs a settlement that nobody hears of otherwise, or counts it for
// the next line.
func (o *outages) unsettled(err error) {
	const message = "not settled: what was estimated stays charged"
	if skipped, due := o.lines.due(outage{message: message}, time.Now()); due {
		o.log.Warn(message, "error", err, "more_since_last_line", skipped)
	}
}
