package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// maxInteger is the largest integer of a structured field (RFC 9651, section
// 3.3.1).
const maxInteger = 999_999_999_999_999

// fieldWriter writes the header fields of decisions. It is safe for
// concurrent use.
type fieldWriter struct {
	ietf, legacy, x bool
	policy          policyField
	state           stateField
	retryAfterDate  bool
	jitter          float64
	// now is read to show a wait as a moment, never to decide anything.
	now func() time.Time
}

// newFieldWriter returns the writer of fields for decisions under policies,
// which returns those in force.
func newFieldWriter(fields Fields, policies func() *policy.Set) *fieldWriter {
	on := func(d Dialect) bool { return slices.Contains(fields.Dialects, d) }
	f := &fieldWriter{
		ietf:           on(IETF) || on(IETF12),
		legacy:         on(Legacy),
		x:              on(X),
		policy:         policyField{policies: policies},
		state:          newStateField(on(IETF12)),
		retryAfterDate: fields.RetryAfterDate,
		now:            time.Now,
	}
	if fields.Jitter > 0 {
		f.jitter = min(fields.Jitter, MaxJitter)
	}
	return f
}

// write sets the fields of a decision: those of the dialects whatever it
// says, and Retry-After on an answer that denies. To tell about a key that is
// at its limit denies nothing.
func (f *fieldWriter) write(h http.Header, d *policy.Decision, denies bool) {
	var room [4]limitFields // most policies have fewer, and then nothing is allocated
	limits := fieldsOf(room[:0], d)
	f.writeLimits(h, d.Policy, limits)
	if denies {
		f.writeRetryAfter(h, limits)
	}
}

// writeLimits sets the fields of the dialects that are on. Limits that nobody
// counted (the failure mode admitted or denied) appear in RateLimit-Policy
// only: they are in force, but what remains of them is not known. Those that
// a share stood in for appear with the share's numbers. Of more than maxShown
// limits, the fields tell of those that are closest to denying.
func (f *fieldWriter) writeLimits(h http.Header, policyName string, limits []limitFields) {
	if f.ietf {
		limits := shown(limits)
		set(h, "Ratelimit-Policy", f.policy.of(policyName, limits))
		set(h, "Ratelimit", f.state.of(limits))
	}
	if !f.legacy && !f.x {
		return
	}
	l := closest(limits)
	if l == nil {
		return
	}
	if f.legacy {
		writeLegacy(h, l)
	}
	if f.x {
		f.writeX(h, l)
	}
}

// set sets a field whose name is in canonical form already. An empty list is
// a field that is not sent (RFC 9651, section 3.1).
func set(h http.Header, name, value string) {
	if value != "" {
		h[name] = []string{value}
	}
}

func writeLegacy(h http.Header, l *limitFields) {
	set(h, "Ratelimit-Limit", strconv.FormatInt(clamp(l.quota), 10))
	set(h, "Ratelimit-Remaining", strconv.FormatInt(clamp(l.remaining), 10))
	if seconds, ok := l.until(); ok {
		set(h, "Ratelimit-Reset", strconv.FormatInt(seconds, 10))
	}
}

func (f *fieldWriter) writeX(h http.Header, l *limitFields) {
	set(h, "X-Ratelimit-Limit", strconv.FormatInt(clamp(l.quota), 10))
	set(h, "X-Ratelimit-Remaining", strconv.FormatInt(clamp(l.remaining), 10))
	if seconds, ok := l.until(); ok {
		set(h, "X-Ratelimit-Reset", strconv.FormatInt(f.moment(seconds), 10))
	}
}

// moment is the Unix time in so many seconds, rounded up.
func (f *fieldWriter) moment(seconds int64) int64 {
	now := f.now()
	if now.Nanosecond() > 0 {
		seconds++
	}
	return now.Unix() + seconds
}

func clamp(n int64) int64 { return min(max(n, 0), maxInteger) }
