package httpapi_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

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
			got.Detail != "the plan's quota is used up: monthly; try again in 2678400 s" {
			t.Errorf("status %d, %+v", w.Code, got)
		}
	})
}
