package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// inBubble runs a test against the API of a node that is alone, with a limit
// of 2 in each minute of the clock. The time is virtual and begins with a
// minute: it is the year 2000, 0:00:00.
func inBubble(t *testing.T, fields httpapi.Fields, test func(t *testing.T, check func() (status int, h http.Header))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set, err := policy.NewSet(policy.Policy{Name: "api", Limits: []limiter.Limit{
			{Algorithm: limiter.FixedWindow, Count: 2, Period: time.Minute},
		}})
		if err != nil {
			t.Fatal(err)
		}
		node, err := murmurate.Start(t.Context(), murmurate.Options{Alone: true, Policies: set})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := node.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		api := httpapi.New(httpapi.Options{Node: node, Fields: fields}).Handler()
		test(t, func() (int, http.Header) {
			w := httptest.NewRecorder()
			api.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/check", strings.NewReader(`{"policy":"api","key":"k"}`)))
			return w.Code, w.Header()
		})
	})
}

// fieldStep is one call at a second of the test, and what it is answered.
type fieldStep struct {
	second int
	status int
	fields map[string]string // empty: absent
}

func runSteps(t *testing.T, fields httpapi.Fields, steps []fieldStep) {
	t.Helper()
	inBubble(t, fields, func(t *testing.T, check func() (int, http.Header)) {
		began := time.Now()
		for i, step := range steps {
			time.Sleep(time.Until(began.Add(time.Duration(step.second) * time.Second)))
			status, h := check()
			if status != step.status {
				t.Errorf("call %d, second %d: status %d, want %d", i+1, step.second, status, step.status)
			}
			for name, want := range step.fields {
				if got := h.Values(name); strings.Join(got, "; ") != want {
					t.Errorf("call %d, second %d: %s is %q, want %q", i+1, step.second, name, got, want)
				}
			}
		}
	})
}

var everyDialect = httpapi.Fields{Dialects: []httpapi.Dialect{httpapi.IETF, httpapi.Legacy, httpapi.X}}

// scenario 39: denied requests got the reset time of a previous window, or no
// field when its value was 0.
func TestDenialsTellOfThePresentWindow(t *testing.T) {
	t.Parallel()
	told := func(remaining, reset, unix, retryAfter string) map[string]string {
		return map[string]string{
			"RateLimit-Policy": `"api";q=2;w=60`,
			"RateLimit":        `"api";r=` + remaining + `;t=` + reset,
			"RateLimit-Limit":  "2", "RateLimit-Remaining": remaining, "RateLimit-Reset": reset,
			"X-RateLimit-Limit": "2", "X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": unix,
			"Retry-After": retryAfter,
		}
	}
	const firstEnd, secondEnd, fifthEnd = "946684860", "946684920", "946685100"
	runSteps(t, everyDialect, []fieldStep{
		{0, 200, told("1", "60", firstEnd, "")},
		{10, 200, told("0", "50", firstEnd, "")},
		{20, 429, told("0", "40", firstEnd, "40")},
		{60, 200, told("1", "60", secondEnd, "")},
		{61, 200, told("0", "59", secondEnd, "")},
		{61, 429, told("0", "59", secondEnd, "59")},
		{119, 429, told("0", "1", secondEnd, "1")},
		{270, 200, told("1", "30", fifthEnd, "")},
		{270, 200, told("0", "30", fifthEnd, "")},
		{290, 429, told("0", "10", fifthEnd, "10")},
	})
}

// scenario 5: Retry-After was the whole window instead of the rest of it.
func TestRetryAfterIsTheRestOfTheWindow(t *testing.T) {
	t.Parallel()
	retryAfter := func(value string) map[string]string { return map[string]string{"Retry-After": value} }
	runSteps(t, httpapi.Fields{}, []fieldStep{
		{59, 200, retryAfter("")},
		{59, 200, retryAfter("")},
		{59, 429, retryAfter("1")},
		{60, 200, retryAfter("")},
	})
	runSteps(t, httpapi.Fields{RetryAfterDate: true}, []fieldStep{
		{59, 200, retryAfter("")},
		{59, 200, retryAfter("")},
		{59, 429, retryAfter("Sat, 01 Jan 2000 00:01:00 GMT")},
		{60, 200, retryAfter("")},
	})
}
