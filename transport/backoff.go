package transport

import "time"

const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = time.Second
)

// backoff is how long to wait before the next attempt to connect: a tenth of
// the time that the peer has been gone, so that a brief absence is noticed to
// be over after a brief moment and a long one costs little. jitter in [0, 1)
// spreads it from three quarters to five quarters, so that the peers of a
// node that comes back do not arrive together.
func backoff(gone time.Duration, jitter float64) time.Duration {
	d := min(max(gone/10, minBackoff), maxBackoff)
	return time.Duration(float64(d) * (0.75 + jitter/2))
}
