package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Whoever was denied is told how long it stays so, by the middleware, the
// gateway and a check alike, and passes when that time has passed.
func TestRetryAfterOfACooldown(t *testing.T) {
	t.Parallel()
	p := policy.Policy{
		Name: "login", Key: []string{"header:X-Api-Key"}, Cooldown: policy.Cooldown{For: 15*time.Minute + time.Millisecond},
		Limits: []limiter.Limit{{Name: "guesses", Algorithm: limiter.SlidingLog, Count: 2, Period: time.Minute}},
	}
	api := func(node httpapi.Node) http.Handler {
		return httpapi.New(httpapi.Options{Node: node, Fields: httpapi.Fields{Dialects: []httpapi.Dialect{httpapi.IETF}}}).Handler()
	}
	for name, front := range map[string]func(node httpapi.Node) (h http.Handler, method, path, body string){
		"middleware": func(node httpapi.Node) (http.Handler, string, string, string) {
			return httpapi.Middleware(node, byKey)(ok), http.MethodGet, "/", ""
		},
		"gateway": func(node httpapi.Node) (http.Handler, string, string, string) {
			return api(node), http.MethodGet, "/gateway", ""
		},
		"check": func(node httpapi.Node) (http.Handler, string, string, string) {
			return api(node), http.MethodPost, "/v1/check", `{"policy":"login","key":"header:x-api-key=k"}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, method, path, body := front(alone(t, p))
				for i, step := range []struct {
					after      time.Duration
					status     int
					retryAfter string
					millis     int64
				}{
					{0, 200, "", 0},
					{0, 200, "", 0},
					{10 * time.Second, 429, "901", 900_001}, // rounded up
					{10 * time.Minute, 429, "301", 300_001}, // the minute of the limit is over
					{5 * time.Minute, 429, "1", 1},
					{time.Second, 200, "", 0},
				} {
					time.Sleep(step.after)
					r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
					r.Header.Set("X-Api-Key", "k")
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					if got := w.Header().Get("Retry-After"); w.Code != step.status || got != step.retryAfter {
						t.Errorf("step %d: %d, Retry-After %q, want %d, %q: %s", i, w.Code, got, step.status, step.retryAfter, w.Body)
					}
					if usage := strings.Contains(w.Body.String(), "#abnormal-usage-detected"); body == "" && usage != (step.status == 429) {
						t.Errorf("step %d: %s", i, w.Body)
					}
					if limit := w.Header().Get("RateLimit"); step.status == 429 && !strings.HasPrefix(limit, `"guesses";r=0;t=`+step.retryAfter) {
						t.Errorf("step %d: RateLimit is %q", i, limit)
					}
					if body != "" {
						wantDecision(t, i, w.Body.Bytes(), step.millis)
					}
				}
			})
		})
	}
}

// wantDecision looks at what a check says of a cool-down, of which so much is
// left.
func wantDecision(t *testing.T, step int, body []byte, millis int64) {
	t.Helper()
	var d struct {
		RetryAfter int64    `json:"retry_after_ms"`
		DeniedBy   []string `json:"denied_by"`
	}
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	denied := len(d.DeniedBy) == 1 && d.DeniedBy[0] == "login/guesses"
	if d.RetryAfter != millis || denied != (millis > 0) {
		t.Errorf("step %d: %s", step, body)
	}
}
