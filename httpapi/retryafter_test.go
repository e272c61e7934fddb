package httpapi

import (
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func deniedFor(wait time.Duration) []limitFields {
	return []limitFields{{name: "a", retryAfter: wait, nextUnit: wait}}
}

// sent is the Retry-After that f writes.
func sent(f *fieldWriter, limits []limitFields) string {
	h := make(http.Header)
	f.writeRetryAfter(h, limits)
	return h.Get("Retry-After")
}

func TestRetryAfterAsDate(t *testing.T) {
	t.Parallel()
	// The zone of the clock must not show, and 10:00 there is 13:00 GMT.
	zone := time.FixedZone("-03", -3*60*60)
	onTheSecond := time.Date(2026, time.January, 1, 10, 0, 0, 0, zone)
	for _, tt := range []struct {
		why  string
		now  time.Time
		wait time.Duration
		want string
	}{
		{"whole seconds", onTheSecond, 5 * time.Second, "Thu, 01 Jan 2026 13:00:05 GMT"},
		{"part of a second", onTheSecond, 4200 * time.Millisecond, "Thu, 01 Jan 2026 13:00:05 GMT"},
		{"between seconds", onTheSecond.Add(time.Nanosecond), 5 * time.Second, "Thu, 01 Jan 2026 13:00:06 GMT"},
		{"at once", onTheSecond, 0, "Thu, 01 Jan 2026 13:00:01 GMT"},
		{"into the next day", onTheSecond, 12 * time.Hour, "Fri, 02 Jan 2026 01:00:00 GMT"},
		{"never", onTheSecond, limiter.Never, ""},
		{"as long as can be", onTheSecond, math.MaxInt64, "Sat, 13 Apr 2318 12:47:17 GMT"},
	} {
		f := newFieldWriter(Fields{RetryAfterDate: true}, emptySet)
		f.now = func() time.Time { return tt.now }
		got := sent(f, deniedFor(tt.wait))
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
		}
		if at, err := http.ParseTime(got); tt.wait >= 0 && (err != nil || at.Before(tt.now.Add(tt.wait))) {
			t.Errorf("%s: %v (%v) is before the call would pass", tt.why, at, err)
		}
	}
}

func TestJitterOnlyPutsOff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		jitter      float64
		wait        time.Duration
		least, most int64
	}{
		{MaxJitter, time.Second, 1, 1},
		{MaxJitter, 19 * time.Second, 19, 20},
		{MaxJitter, 1000 * time.Second, 1000, 1100},
		{MaxJitter, math.MaxInt64, 9223372037, 10145709240},
		{0.01, 1000 * time.Second, 1000, 1010},
		{7, 1000 * time.Second, 1000, 1100},
		{-1, 1000 * time.Second, 1000, 1000},
		{math.NaN(), 1000 * time.Second, 1000, 1000},
	} {
		f := newFieldWriter(Fields{Jitter: tt.jitter}, emptySet)
		seen := make(map[int64]bool)
		for range 1000 {
			seconds, err := strconv.ParseInt(sent(f, deniedFor(tt.wait)), 10, 64)
			if err != nil || seconds < tt.least || seconds > tt.most {
				t.Fatalf("jitter %v on %v: %d (%v), want %d to %d", tt.jitter, tt.wait, seconds, err, tt.least, tt.most)
			}
			seen[seconds] = true
		}
		if spread := len(seen) > 1; spread != (tt.least < tt.most) {
			t.Errorf("jitter %v on %v: only %v", tt.jitter, tt.wait, seen)
		}
	}
	f := newFieldWriter(Fields{Jitter: MaxJitter}, emptySet)
	if got := sent(f, deniedFor(limiter.Never)); got != "" {
		t.Errorf("never became %q", got)
	}
}

func TestJitterOfADate(t *testing.T) {
	t.Parallel()
	f := newFieldWriter(Fields{RetryAfterDate: true, Jitter: MaxJitter}, emptySet)
	f.now = func() time.Time { return time.Unix(0, 0) }
	seen := make(map[string]bool)
	for range 1000 {
		got := sent(f, deniedFor(1000*time.Second))
		seen[got] = true
		if at, err := http.ParseTime(got); err != nil || at.Unix() < 1000 || at.Unix() > 1100 {
			t.Fatalf("%q (%v)", got, err)
		}
	}
	if len(seen) == 1 {
		t.Errorf("only %v", seen)
	}
}

func TestTimesForPeople(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int64]string{
		1: "1 s", 59: "59 s", 60: "60 s", 3599: "3599 s",
		3600: "1 h", 3601: "1 h 1 min", 7140: "1 h 59 min", 7141: "2 h",
		86_340: "23 h 59 min", 86_341: "1 d", 86_400: "1 d", 86_401: "1 d 1 h",
		2_667_394: "30 d 21 h", 2_678_400: "31 d", 366 * 86_400: "366 d", 1 << 33: "99420 d 13 h",
	} {
		if got := spoken(seconds); got != want {
			t.Errorf("%d s: %s, want %s", seconds, got, want)
		}
	}
}
