package observe

import "testing"

func TestDenialsAreCountedByLimit(t *testing.T) {
	t.Parallel()
	m := New(Options{Policies: []string{"api"}})
	for range 3 {
		m.Denied("api", "burst")
	}
	m.Denied("api", "day")
	m.Denied(InlinePolicy, "made-up-name")
	m.Denied("never announced", "x")
	m.UnknownTier("api")
	wantLines(t, scrape(t, m),
		`murmurate_denials_total{limit="burst",policy="api"} 3`,
		`murmurate_denials_total{limit="day",policy="api"} 1`,
		`murmurate_denials_total{limit="inline",policy="inline"} 1`,
		`murmurate_denials_total{limit="x",policy="unknown"} 1`,
		`murmurate_unknown_tiers_total{policy="api"} 1`,
	)
}
