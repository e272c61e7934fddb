package httpapi

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// fieldCase is one row of testdata/headers.json.
type fieldCase struct {
	Why      string
	Dialects []Dialect
	NowMS    int64 `json:"now_unix_ms"`
	Limits   []struct {
		Name         string
		Limit        int64
		WindowMS     int64 `json:"window_ms"`
		Remaining    int64
		NextUnitMS   int64 `json:"next_unit_ms"`
		Allowed      bool
		RetryAfterMS int64 `json:"retry_after_ms"`
		Unit         string
	}
	Headers map[string]string
	Absent  []string
}

// millis is the inverse of appendMillis.
func millis(n int64) time.Duration {
	if n < 0 {
		return limiter.Never
	}
	return time.Duration(n) * time.Millisecond
}

func (c *fieldCase) limits() (limits []limitFields, denied bool) {
	for _, l := range c.Limits {
		limits = append(limits, limitFields{
			name: l.Name, unit: strings.TrimPrefix(l.Unit, "requests"), quota: l.Limit, window: millis(l.WindowMS), remaining: l.Remaining,
			nextUnit: millis(l.NextUnitMS), retryAfter: millis(l.RetryAfterMS), allowed: l.Allowed,
		})
		denied = denied || !l.Allowed
	}
	return limits, denied
}

func emptySet() *policy.Set { return new(policy.Set) }

func TestFieldsOfTheCases(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/headers.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []fieldCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		t.Run(c.Why, func(t *testing.T) {
			t.Parallel()
			limits, denied := c.limits()
			h := make(http.Header)
			f := newFieldWriter(Fields{Dialects: c.Dialects}, emptySet)
			f.now = func() time.Time { return time.UnixMilli(c.NowMS) }
			f.writeLimits(h, "p", limits)
			if denied {
				f.writeRetryAfter(h, limits)
			}
			for name, want := range c.Headers {
				if got := h.Values(name); len(got) != 1 || got[0] != want {
					t.Errorf("%s is %q, want %q once", name, got, want)
				}
			}
			for _, name := range c.Absent {
				if got := h.Values(name); len(got) != 0 {
					t.Errorf("%s is %q, want it absent", name, got)
				}
			}
		})
	}
}

func TestFieldsOfDecisions(t *testing.T) {
	t.Parallel()
	counted := limiter.Result{Allowed: true, Limit: 20, Remaining: 7, NextUnit: 1500 * time.Millisecond}
	result := func(change func(*limiter.Result)) limiter.Result {
		r := counted
		change(&r)
		return r
	}
	named := func(name string, r limiter.Result) policy.LimitResult {
		return policy.LimitResult{Name: name, Window: time.Minute, Result: r}
	}
	open := result(func(r *limiter.Result) { *r = limiter.Result{Allowed: true, Limit: 20, Source: limiter.SourceFailOpen} })
	closed := result(func(r *limiter.Result) {
		*r = limiter.Result{Limit: 20, Source: limiter.SourceFailClosed, RetryAfter: time.Second, NextUnit: time.Second}
	})
	tests := []struct {
		why    string
		limits []policy.LimitResult
		policy string
		state  string
		reset  string
		retry  string
	}{
		{"a limit is called by its own name", []policy.LimitResult{named("api/burst", counted)},
			`"burst";q=20;w=60`, `"burst";r=7;t=2`, "2", ""},
		{"a lone unnamed limit by its policy's", []policy.LimitResult{named("api", counted)},
			`"api";q=20;w=60`, `"api";r=7;t=2`, "2", ""},
		{"names that meet are told apart", []policy.LimitResult{named("api/burst", counted), named("site/burst", counted), named("site/minute", counted)},
			`"api.burst";q=20;w=60, "site.burst";q=20;w=60, "minute";q=20;w=60`, `"api.burst";r=7;t=2, "site.burst";r=7;t=2, "minute";r=7;t=2`, "2", ""},
		{"a name that is another's policy", []policy.LimitResult{named("burst", counted), named("api/burst", counted)},
			`"burst";q=20;w=60, "api.burst";q=20;w=60`, `"burst";r=7;t=2, "api.burst";r=7;t=2`, "2", ""},
		{"nothing remains: a header with 0", []policy.LimitResult{named("api", result(func(r *limiter.Result) { r.Remaining, r.NextUnit = 0, 0 }))},
			`"api";q=20;w=60`, `"api";r=0;t=0`, "0", ""},
		{"a share says what the share has", []policy.LimitResult{named("api", result(func(r *limiter.Result) { r.Limit, r.Remaining, r.Source = 6, 2, limiter.SourceShare }))},
			`"api";q=6;w=60`, `"api";r=2;t=2`, "2", ""},
		{"failed open: nobody knows what remains", []policy.LimitResult{named("api", open)},
			`"api";q=20;w=60`, "", "", ""},
		{"failed closed: nor here", []policy.LimitResult{named("api", closed)},
			`"api";q=20;w=60`, "", "", "1"},
		{"what was counted is shown beside what was not", []policy.LimitResult{named("api/burst", open), named("api/minute", counted)},
			`"burst";q=20;w=60, "minute";q=20;w=60`, `"minute";r=7;t=2`, "2", ""},
		{"a violated limit's t is not later than Retry-After", []policy.LimitResult{named("api", result(func(r *limiter.Result) {
			r.Allowed, r.Remaining, r.RetryAfter, r.NextUnit = false, 0, 2*time.Second, time.Minute
		}))}, `"api";q=20;w=60`, `"api";r=0;t=2`, "2", "2"},
		{"one limit that never passes: no Retry-After", []policy.LimitResult{
			named("api/burst", result(func(r *limiter.Result) { r.Allowed, r.RetryAfter = false, limiter.Never })),
			named("api/minute", result(func(r *limiter.Result) { r.Allowed, r.RetryAfter = false, time.Hour }))},
			`"burst";q=20;w=60, "minute";q=20;w=60`, `"burst";r=7;t=2, "minute";r=7;t=2`, "2", ""},
		{"a denial at once passable still says 1", []policy.LimitResult{named("api", result(func(r *limiter.Result) { r.Allowed, r.NextUnit = false, 0 }))},
			`"api";q=20;w=60`, `"api";r=7;t=0`, "0", "1"},
		{"the longest times saturate", []policy.LimitResult{named("api", result(func(r *limiter.Result) { r.Allowed, r.NextUnit, r.RetryAfter = false, 1<<63-1, 1<<63-1 }))},
			`"api";q=20;w=60`, `"api";r=7;t=9223372037`, "9223372037", "9223372037"},
		{"limits in shadow are told to nobody, and take no name", []policy.LimitResult{
			{Name: "tried/burst", Shadow: true, Window: time.Minute, Result: result(func(r *limiter.Result) { r.Allowed, r.RetryAfter = false, time.Hour })},
			named("api/burst", counted)},
			`"burst";q=20;w=60`, `"burst";r=7;t=2`, "2", ""},
		{"nothing but shadow", []policy.LimitResult{{Name: "api", Shadow: true, Window: time.Minute, Result: counted}}, "", "", "", ""},
		{"no limits", nil, "", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			d := policy.Decision{Policy: "api", Limits: tt.limits}
			h := make(http.Header)
			newFieldWriter(bothDialects, emptySet).write(h, &d, d.Denied())
			for name, want := range map[string]string{
				"RateLimit-Policy": tt.policy, "RateLimit": tt.state, "RateLimit-Reset": tt.reset, "Retry-After": tt.retry,
			} {
				if got := h.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			for _, name := range []string{"RateLimit-Policy", "RateLimit"} {
				if _, err := httpsfv.UnmarshalList(h.Values(name)); len(h.Values(name)) > 0 && err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// The field that is made once for a policy must be the one that its limits
// would give, and only stand in where it is.
func TestMadePolicyField(t *testing.T) {
	t.Parallel()
	node := newFake(t, api())
	f := policyField{policies: node.Policies}
	d, err := node.Check(t.Context(), policy.Request{Policy: "api", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	limits := fieldsOf(nil, &d)
	const want = `"burst";q=20;w=1, "minute";q=600;w=60`
	if got := f.of("api", limits); got != want || f.all()["api"].field != want {
		t.Errorf("got %s, made %s, want %s", got, f.all()["api"].field, want)
	}
	limits[0].quota = 6
	if got := f.of("api", limits); got != `"burst";q=6;w=1, "minute";q=600;w=60` {
		t.Errorf("the numbers of a share: got %s", got)
	}
	changed := api()
	changed.Limits = changed.Limits[:1]
	changed.Limits[0].Count = 50
	node.set = newFake(t, changed).set
	if got := f.all()["api"].field; got != `"burst";q=50;w=1` {
		t.Errorf("after the policies changed: got %s", got)
	}
}
