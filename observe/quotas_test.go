package observe

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestQuotaUseIsTheHighestOfThePeriod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := New(Options{Policies: []string{"plan"}})
		if text := scrape(t, m); strings.Contains(text, "murmurate_quota_used_ratio{") {
			t.Errorf("a use before the first check:\n%s", text)
		}
		for _, step := range []struct {
			ratio float64
			rest  time.Duration
			wait  time.Duration
			want  string
		}{
			{0.25, time.Hour, 0, "0.25"},
			{0.75, time.Hour, 0, "0.75"},
			{0.5, time.Hour, 0, "0.75"}, // another key, which has used less
			{0.5, 2 * time.Hour, time.Hour - 1, "0.75"},
			{0.1, time.Hour, 1, "0.1"}, // the period of the highest is over
			{1, time.Minute, 0, "1"},
		} {
			time.Sleep(step.wait)
			m.QuotaUsed("plan", "month", step.ratio, step.rest)
			wantLines(t, scrape(t, m), `murmurate_quota_used_ratio{limit="month",policy="plan"} `+step.want)
		}
		time.Sleep(time.Minute)
		m.QuotaUsed("not announced", "month", 0.5, time.Hour)
		wantLines(t, scrape(t, m),
			`murmurate_quota_used_ratio{limit="month",policy="plan"} 0`,
			`murmurate_quota_used_ratio{limit="month",policy="unknown"} 0.5`)
	})
}
