package httpapi

import (
	"fmt"
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

// spoken is a time for people, rounded up: in seconds below an hour, then in hours
// and minutes, and from a day on in days and hours. Programs read the field.
func spoken(seconds int64) string {
	minutes, hours := (seconds+59)/60, (seconds+3599)/3600
	switch {
	case seconds < 3600:
		return fmt.Sprintf("%d s", seconds)
	case minutes < 24*60:
		return inParts(minutes, 60, "h", "min")
	}
	return inParts(hours, 24, "d", "h")
}

// inParts is n small units, of which a large one has per.
func inParts(n, per int64, large, small string) string {
	if n%per == 0 {
		return fmt.Sprintf("%d %s", n/per, large)
	}
	return fmt.Sprintf("%d %s %d %s", n/per, large, n%per, small)
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
