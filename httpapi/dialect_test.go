package httpapi

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func TestDialectsTogether(t *testing.T) {
	t.Parallel()
	limits := []limitFields{
		{name: "burst", quota: 20, window: time.Minute, remaining: 7, nextUnit: 1500 * time.Millisecond, allowed: true},
		{name: "inflight", quota: 5, remaining: 3, nextUnit: limiter.Never, allowed: true},
	}
	const (
		quotas = `"burst";q=20;w=60, "inflight";q=5`
		once   = `"burst";r=7;t=2, "inflight";r=3`
		twice  = `"burst";r=7;t=2;a=7;w=2, "inflight";r=3;a=3`
	)
	ietf := map[string]string{"RateLimit-Policy": quotas, "RateLimit": once}
	ietf12 := map[string]string{"RateLimit-Policy": quotas, "RateLimit": twice}
	legacy := map[string]string{"RateLimit-Limit": "5", "RateLimit-Remaining": "3"} // the closest has no reset
	x := map[string]string{"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "3"}
	for _, tt := range []struct {
		why      string
		dialects []Dialect
		want     []map[string]string
	}{
		{"nothing", nil, nil},
		{"none", []Dialect{None}, nil},
		{"ietf", []Dialect{IETF}, []map[string]string{ietf}},
		{"ietf12", []Dialect{IETF12}, []map[string]string{ietf12}},
		{"both share one field", []Dialect{IETF, IETF12}, []map[string]string{ietf12}},
		{"in any order", []Dialect{IETF12, IETF}, []map[string]string{ietf12}},
		{"legacy and x", []Dialect{Legacy, X}, []map[string]string{legacy, x}},
		{"all", []Dialect{X, IETF, Legacy, IETF12}, []map[string]string{ietf12, legacy, x}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			want := make(http.Header)
			for _, fields := range tt.want {
				for name, value := range fields {
					want.Add(name, value)
				}
			}
			f := newFieldWriter(Fields{Dialects: tt.dialects}, emptySet)
			got := make(http.Header)
			for range 2 { // with parameters that are new, and used again
				f.writeLimits(got, "p", limits)
				if !maps.EqualFunc(got, want, slices.Equal) {
					t.Errorf("\n got %q\nwant %q", got, want)
				}
			}
		})
	}
}

func TestXResetsAtAWholeSecond(t *testing.T) {
	t.Parallel()
	f := newFieldWriter(Fields{Dialects: []Dialect{X}}, emptySet)
	for _, tt := range []struct {
		now  time.Time
		wait time.Duration
		want string
	}{
		{time.Unix(1000, 0), 0, "1000"},
		{time.Unix(1000, 1), 0, "1001"},
		{time.Unix(1000, 0), time.Nanosecond, "1001"},
		{time.Unix(1000, 999_999_999), time.Second, "1002"},
		{time.Unix(1000, 0), math.MaxInt64, "9223373037"},
	} {
		f.now = func() time.Time { return tt.now }
		h := make(http.Header)
		f.writeLimits(h, "p", []limitFields{{name: "a", nextUnit: tt.wait, allowed: true}})
		if got := h.Get("X-RateLimit-Reset"); got != tt.want {
			t.Errorf("%v and %v: reset %s, want %s", tt.now.UTC(), tt.wait, got, tt.want)
		}
	}
}

func TestValidateFields(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why    string
		fields Fields
		want   string
	}{
		{"nothing", Fields{}, ""},
		{"everything", Fields{Dialects: []Dialect{IETF, Legacy, X, IETF12}, RetryAfterDate: true, Jitter: MaxJitter}, ""},
		{"none", Fields{Dialects: []Dialect{None}}, ""},
		{"none beside another, an unknown one, and too much jitter", Fields{Dialects: []Dialect{None, "ieft"}, Jitter: 0.2},
			`Dialects[0]: "none" stands alone: remove it, or all the others` + "\n" +
				`Dialects[1]: must be one of ["ietf" "legacy" "x" "ietf12" "none"], got "ieft"` + "\n" +
				`Jitter: must be 0 to 0.1, got 0.2`},
		{"less than no jitter", Fields{Jitter: -0.1}, "Jitter: must be 0 to 0.1, got -0.1"},
		{"no number", Fields{Jitter: math.NaN()}, "Jitter: must be 0 to 0.1, got NaN"},
	} {
		got := ""
		if err := tt.fields.Validate(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.why, got, tt.want)
		}
	}
}
