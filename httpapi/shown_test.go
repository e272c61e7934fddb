package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// However many limits apply, the fields have a bound, in every dialect, and
// tell of those that deny.
func TestFieldsHaveABound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 62)
	var limits []limitFields
	for i := range 100 {
		limits = append(limits, limitFields{
			name: fmt.Sprintf("%s%02d.%[1]s%02[2]d", long, i), unit: "concurrent-requests", quota: maxInteger, window: 366 * 24 * time.Hour,
			remaining: maxInteger, nextUnit: 366 * 24 * time.Hour, allowed: true,
		})
	}
	for i, change := range map[int]func(l *limitFields){
		7:  func(l *limitFields) { l.allowed, l.retryAfter = false, time.Second },
		90: func(l *limitFields) { l.allowed, l.retryAfter = false, limiter.Never },
		20: func(l *limitFields) { l.remaining = 3 },
	} {
		change(&limits[i])
	}
	h := make(http.Header)
	newFieldWriter(Fields{Dialects: []Dialect{IETF12, Legacy, X}}, emptySet).writeLimits(h, "", limits)
	size := 0
	for name, values := range h {
		size += len(name) + len(": \r\n") + len(values[0])
	}
	if size < 4<<10 || size > 7<<10 {
		t.Errorf("the fields have %d bytes", size)
	}
	for _, field := range []string{"Ratelimit", "Ratelimit-Policy"} {
		members := strings.Split(h.Get(field), ", ")
		if len(members) != maxShown || !slices.IsSorted(members) {
			t.Errorf("%s has %d members: %s", field, len(members), h.Get(field))
		}
		for i, want := range map[int]bool{7: true, 20: true, 90: true, 99: false} {
			if got := strings.Contains(h.Get(field), limits[i].name); got != want {
				t.Errorf("%s tells of limit %d: %v", field, i, got)
			}
		}
	}
}
