package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// counterOf is the limit of that name as GET of a path below /v1/keys shows it.
func counterOf(t *testing.T, h http.Handler, path, name string) map[string]any {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/keys/"+path, nil))
	var d struct{ Limits []map[string]any }
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: status %d, %v, %s", path, w.Code, err, w.Body)
	}
	for _, l := range d.Limits {
		if l["name"] == name {
			return l
		}
	}
	t.Fatalf("%s: no %s in %s", path, name, w.Body)
	return nil
}

// A rate that is full again hides no quota that is used, by whichever of its
// names the key is looked at.
func TestUsedQuotaIsShownBesideAFullBucket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node := alone(t, policy.Policy{Name: "plan", Key: []string{"header:X-Api-Key"}, Limits: []limiter.Limit{
			limiter.PerSecond(10).WithName("second"),
			{Name: "month", Algorithm: limiter.Quota, Count: 100, Period: 30 * 24 * time.Hour},
		}})
		if d, err := node.AllowN(t.Context(), "plan", "header:x-api-key=a", 7); err != nil || !d.Allowed {
			t.Fatalf("%v, %+v", err, d)
		}
		time.Sleep(time.Minute)
		h := httpapi.New(httpapi.Options{Node: node}).Handler()
		for _, key := range []string{"a", "header:x-api-key=a"} {
			if month := counterOf(t, h, "plan/"+key, "plan/month"); month["used"] != 7.0 {
				t.Errorf("%s: %v, want 7 used", key, month)
			}
		}
	})
}

// Virtual time begins at the beginning of 2000, UTC.
func TestUsedUpQuotaIsToldApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node := alone(t, policy.Policy{Name: "plan", Limits: []limiter.Limit{{
			Name: "monthly", Algorithm: limiter.Quota, Count: 1, Period: 30 * 24 * time.Hour,
			Align: limiter.AlignCalendar, Calendar: limiter.Month, Unit: limiter.Bytes,
		}}})
		h := httpapi.Middleware(node, byKey)(ok)
		wantFields(t, send(h, "X-Api-Key", "a"), map[string]string{
			"RateLimit-Policy": `"monthly";q=1;qu="content-bytes";w=2592000`, "RateLimit": `"monthly";r=0;t=2678400`, "Retry-After": "",
		})
		w := send(h, "X-Api-Key", "a")
		wantFields(t, w, map[string]string{"Retry-After": "2678400", "Content-Type": "application/problem+json"})
		got := denialOf(t, w)
		if w.Code != http.StatusForbidden || got.Status != http.StatusForbidden || got.Title != "Plan Quota Used Up" || got.Policy != "plan" ||
			got.Detail != "the plan's quota is used up: monthly; try again in 31 d" {
			t.Errorf("status %d, %+v", w.Code, got)
		}
	})
}
