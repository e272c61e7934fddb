package limitertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Mismatch is a step that was answered wrongly.
type Mismatch struct {
	// Step is its place in the case, from 0.
	Step int
	// Detail names the fields that differ, with what came and what was due.
	Detail string
}

// Run plays the case against a fresh table and returns the steps that were
// answered wrongly, in order. An error is a call that was not answered.
func (c *Case) Run(tolerance time.Duration) ([]Mismatch, error) {
	var wrong []Mismatch
	table := limiter.NewTable(limiter.TableOptions{})
	call := limiter.Call{
		Subject: limiter.Subject{Hi: 1, Lo: 2},
		Charges: []limiter.Charge{{Limit: &c.Limit, Tag: c.Limit.Tag()}},
	}
	results := make([]limiter.Result, 1)
	for i := range c.Steps {
		call.Charges[0].Cost = c.Steps[i].Cost
		if err := table.Do(limiter.At(c.Steps[i].At), &call, results); err != nil {
			return wrong, fmt.Errorf("step %d: %w", i, err)
		}
		if detail := c.Steps[i].compare(&results[0], tolerance); detail != "" {
			wrong = append(wrong, Mismatch{Step: i, Detail: detail})
		}
	}
	return wrong, nil
}

// compare names what differs, or returns "".
func (s *Step) compare(got *limiter.Result, tolerance time.Duration) string {
	var parts []string
	differ := func(field string, got, want any) {
		parts = append(parts, fmt.Sprintf("%s: got %v, want %v", field, got, want))
	}
	duration := func(field string, got, want time.Duration) {
		// never, -1, is next to 0 in number only.
		if (got < 0) != (want < 0) || (got-want).Abs() > tolerance {
			differ(field, int64(got), int64(want))
		}
	}
	if got.Allowed != s.Allowed {
		differ("allowed", got.Allowed, s.Allowed)
	}
	if got.Remaining != s.Remaining {
		differ("remaining", got.Remaining, s.Remaining)
	}
	duration("retry_after_ns", got.RetryAfter, s.RetryAfter)
	duration("reset_after_ns", got.ResetAfter, s.ResetAfter)
	if s.HasDelay {
		duration("delay_ns", got.Delay, s.Delay)
	}
	return strings.Join(parts, "; ")
}
