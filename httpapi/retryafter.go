package httpapi

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// never is the Retry-After that is not sent.
const never = 0

// retryAfter is the whole seconds after which a denied call would pass every
// limit, at least 1, or never.
func retryAfter(limits []limitFields) int64 {
	longest := int64(1)
	for i := range limits {
		l := &limits[i]
		switch {
		case l.allowed:
		case l.retryAfter < 0:
			return never
		default:
			longest = max(longest, ceil(l.retryAfter, time.Second))
		}
	}
	return longest
}

// writeRetryAfter says when a denied call may be tried again, if waiting
// helps.
func (f *fieldWriter) writeRetryAfter(h http.Header, limits []limitFields) {
	if seconds := retryAfter(limits); seconds != never {
		f.writeSeconds(h, seconds)
	}
}

// writeWait says when to try again what came too early by wait, if it did.
func (f *fieldWriter) writeWait(h http.Header, wait time.Duration) {
	if wait > 0 {
		f.writeSeconds(h, ceil(wait, time.Second))
	}
}

func (f *fieldWriter) writeSeconds(h http.Header, seconds int64) {
	if f.jitter > 0 {
		most := int64(float64(seconds) * f.jitter)
		seconds += rand.Int64N(most + 1) //nolint:gosec // it scatters clients and guards nothing
	}
	value := strconv.FormatInt(seconds, 10)
	if f.retryAfterDate {
		value = time.Unix(f.moment(seconds), 0).UTC().Format(http.TimeFormat)
	}
	set(h, "Retry-After", value)
}
