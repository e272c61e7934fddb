package murmurate

import (
	"log/slog"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// denials logs who was denied, in shadow or in earnest, sampled by limit: one
// client for many, by fingerprint. Limits that callers make share their lines.
type denials struct {
	log   *slog.Logger
	lines sampler[denial]
}

type denial struct {
	policy, limit string
	shadow        bool
}

// report logs one denial, or counts it for the next line. whom is asked for
// only if there is a line.
func (d *denials) report(of denial, retryAfter time.Duration, whom func() limiter.Subject) {
	skipped, due := d.lines.due(of, time.Now())
	if !due {
		return
	}
	message := "denied"
	if of.shadow {
		message = "would be denied: the policy is in shadow"
	}
	attributes := []any{"policy", of.policy, "limit", of.limit, "key", whom().String(), "more_since_last_line", skipped}
	if retryAfter != limiter.Never {
		attributes = append(attributes, "retry_after", retryAfter)
	}
	d.log.Info(message, attributes...)
}
