package limitertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// CaseFile is a file of recorded histories.
type CaseFile struct {
	// Tolerance is by how much a duration may differ.
	Tolerance time.Duration
	Cases     []Case
}

// Case is one history of one counter, from its first call on.
type Case struct {
	Name  string
	Why   string
	Limit limiter.Limit
	Steps []Step
}

// Step is one call and its right answer.
type Step struct {
	// At is Unix time in ns, and may be earlier than the step before.
	At   int64
	Cost int64

	Allowed    bool
	Remaining  int64
	RetryAfter time.Duration // -1: never
	ResetAfter time.Duration
	// Delay is compared if HasDelay.
	Delay    time.Duration
	HasDelay bool
}

// The file as it is written. Pointers tell what is missing from what is 0.
type (
	fileJSON struct {
		Tolerance *int64     `json:"tolerance_ns"`
		Cases     []caseJSON `json:"cases"`
	}
	caseJSON struct {
		Name      string     `json:"name"`
		Why       string     `json:"why"`
		Algorithm string     `json:"algorithm"`
		Limit     limitJSON  `json:"limit"`
		Steps     []stepJSON `json:"steps"`
	}
	limitJSON struct {
		Count  *int64 `json:"count"`
		Period *int64 `json:"period_ns"`
		Burst  *int64 `json:"burst"`
	}
	stepJSON struct {
		At         *int64 `json:"at_ns"`
		Cost       *int64 `json:"cost"`
		Allowed    *bool  `json:"allowed"`
		Remaining  *int64 `json:"remaining"`
		RetryAfter *int64 `json:"retry_after_ns"`
		ResetAfter *int64 `json:"reset_after_ns"`
		Delay      *int64 `json:"delay_ns"`
	}
)

// ReadCases reads a file of cases in JSON. An unknown or missing field, an
// unknown algorithm, a limit that cannot be used and a case without steps
// are errors that say where they are.
func ReadCases(r io.Reader) (*CaseFile, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var raw fileJSON
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&raw); err != nil {
		line := 1 + bytes.Count(data[:min(d.InputOffset(), int64(len(data)))], []byte("\n"))
		return nil, fmt.Errorf("in the JSON, at or after line %d: %w", line, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there must be nothing after the JSON object")
	}
	if raw.Tolerance == nil {
		return nil, errors.New("tolerance_ns is missing")
	}
	if len(raw.Cases) == 0 {
		return nil, errors.New("cases: there is none")
	}
	f := &CaseFile{Tolerance: time.Duration(*raw.Tolerance)}
	for i := range raw.Cases {
		c, err := raw.Cases[i].parse()
		if err != nil {
			return nil, fmt.Errorf("cases[%d] %q: %w", i, raw.Cases[i].Name, err)
		}
		f.Cases = append(f.Cases, c)
	}
	return f, nil
}

func (c *caseJSON) parse() (Case, error) {
	limit, err := c.limit()
	if err != nil {
		return Case{}, err
	}
	if len(c.Steps) == 0 {
		return Case{}, errors.New("steps: there is none")
	}
	parsed := Case{Name: c.Name, Why: c.Why, Limit: limit}
	for i := range c.Steps {
		s, err := c.Steps[i].parse()
		if err != nil {
			return Case{}, fmt.Errorf("steps[%d].%w", i, err)
		}
		parsed.Steps = append(parsed.Steps, s)
	}
	return parsed, nil
}

func (c *caseJSON) limit() (limiter.Limit, error) {
	algorithm, known := limiter.ParseAlgorithm(c.Algorithm)
	switch {
	case !known:
		return limiter.Limit{}, fmt.Errorf("algorithm: %q is unknown; must be one of %v", c.Algorithm, limiter.Algorithms())
	case algorithm == limiter.Concurrency:
		return limiter.Limit{}, errors.New("algorithm: a case is of takes, which occupy no slot of a concurrency limit")
	case c.Limit.Count == nil:
		return limiter.Limit{}, errors.New("limit.count is missing")
	case c.Limit.Period == nil:
		return limiter.Limit{}, errors.New("limit.period_ns is missing")
	}
	l := limiter.Limit{
		Name:      "case",
		Algorithm: algorithm,
		Count:     *c.Limit.Count,
		Period:    time.Duration(*c.Limit.Period),
	}
	if b := c.Limit.Burst; b != nil {
		if *b == 0 && algorithm == limiter.TokenBucket {
			return limiter.Limit{}, errors.New("limit.burst: a token bucket cannot have a burst of 0; leave it out for the default")
		}
		l.Burst = *b
	}
	if err := l.Validate(); err != nil {
		return limiter.Limit{}, fmt.Errorf("limit.%w", err)
	}
	return l, nil
}

func (s *stepJSON) parse() (Step, error) {
	switch {
	case s.At == nil:
		return Step{}, errors.New("at_ns is missing")
	case s.Cost == nil:
		return Step{}, errors.New("cost is missing")
	case s.Allowed == nil:
		return Step{}, errors.New("allowed is missing")
	case s.Remaining == nil:
		return Step{}, errors.New("remaining is missing")
	case s.RetryAfter == nil:
		return Step{}, errors.New("retry_after_ns is missing")
	case s.ResetAfter == nil:
		return Step{}, errors.New("reset_after_ns is missing")
	}
	step := Step{
		At:         *s.At,
		Cost:       *s.Cost,
		Allowed:    *s.Allowed,
		Remaining:  *s.Remaining,
		RetryAfter: time.Duration(*s.RetryAfter),
		ResetAfter: time.Duration(*s.ResetAfter),
	}
	if s.Delay != nil {
		step.Delay, step.HasDelay = time.Duration(*s.Delay), true
	}
	return step, nil
}
