package httpapi

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfterOf is how long an answer asks to wait (RFC 9110, section 10.2.3).
// ok is false if it is not a refusal (429 or 503), or does not say.
func retryAfterOf(answer *http.Response, now time.Time) (pause time.Duration, ok bool) {
	if answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	field := answer.Header.Get("Retry-After")
	if isDigits(field) {
		seconds, err := strconv.ParseInt(field, 10, 64)
		if err != nil || seconds > math.MaxInt64/int64(time.Second) {
			return math.MaxInt64, true // out of range
		}
		return time.Duration(seconds) * time.Second, true
	}
	date, err := http.ParseTime(field)
	if err != nil {
		return 0, false
	}
	return max(date.Sub(now), 0), true
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
