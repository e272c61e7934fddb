package observe

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/murmurate/murmurate/limiter"
)

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("no line %q in:\n%s", line, murmurateLines(text))
		}
	}
}

// murmurateLines leaves out what the Go and process collectors say.
func murmurateLines(text string) string {
	var own strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, "murmurate_") {
			own.WriteString(line)
		}
	}
	return own.String()
}

func TestSeriesExistBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	m := New(Options{Version: "1.2.3", Policies: []string{"api"}, Forwards: []string{"ok", "unreachable"}})
	text := scrape(t, m)
	wantLines(t, text,
		`murmurate_decisions_total{policy="api",result="allowed",source="owner"} 0`,
		`murmurate_decisions_total{policy="api",result="denied",source="share"} 0`,
		`murmurate_decisions_total{policy="api",result="error",source="fail_closed"} 0`,
		`murmurate_decisions_total{policy="inline",result="allowed",source="owner"} 0`,
		`murmurate_settlements_total{result="failed"} 0`,
		`murmurate_forward_calls_total{result="ok"} 0`,
		`murmurate_forward_calls_total{result="unreachable"} 0`,
		`murmurate_build_info{goversion="`+runtime.Version()+`",version="1.2.3"} 1`,
	)
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total"} {
		if !strings.Contains(text, "\n"+name+" ") {
			t.Errorf("no metric %s", name)
		}
	}
	for _, absent := range []string{"murmurate_keys", "murmurate_config_", "murmurate_cluster_members", `policy="unknown"`} {
		if strings.Contains(text, absent) {
			t.Errorf("%s is there though nothing feeds it", absent)
		}
	}
}

func TestDecision(t *testing.T) {
	t.Parallel()
	m := New(Options{Policies: []string{"api"}})
	m.Decision("api", ResultAllowed, limiter.SourceOwner)
	m.Decision("api", ResultAllowed, limiter.SourceOwner)
	m.Decision("api", ResultDenied, limiter.SourceShare)
	m.Decision("inline", ResultShadowDenied, limiter.SourceOwner)
	m.Decision("api", ResultError, limiter.SourceFailClosed)
	m.Decision("api", ResultAllowed, limiter.SourceNone) // no usual source
	wantLines(t, scrape(t, m),
		`murmurate_decisions_total{policy="api",result="allowed",source="owner"} 2`,
		`murmurate_decisions_total{policy="api",result="denied",source="share"} 1`,
		`murmurate_decisions_total{policy="inline",result="shadow_denied",source="owner"} 1`,
		`murmurate_decisions_total{policy="api",result="error",source="fail_closed"} 1`,
		`murmurate_decisions_total{policy="api",result="allowed",source="none"} 1`,
	)
}

func TestSeriesAreBoundedWhateverIsPassedIn(t *testing.T) {
	t.Parallel()
	m := New(Options{Policies: []string{"api"}, Forwards: []string{"ok"}})
	m.Decision("api", "", limiter.Source(200))
	m.Decision("x", ResultAllowed, limiter.SourceOwner)
	m.Forward("x")
	before := strings.Count(scrape(t, m), "\nmurmurate_")
	for i := range 100 {
		made := fmt.Sprintf("made up %d", i)
		m.Decision(made, ResultAllowed, limiter.SourceOwner)
		m.Decision("api", made, limiter.Source(201))
		m.Forward(made)
	}
	text := scrape(t, m)
	if after := strings.Count(text, "\nmurmurate_"); after != before {
		t.Errorf("%d series became %d", before, after)
	}
	wantLines(t, text,
		`murmurate_decisions_total{policy="unknown",result="allowed",source="owner"} 101`,
		`murmurate_decisions_total{policy="api",result="error",source="unknown"} 101`,
		`murmurate_forward_calls_total{result="other"} 101`,
	)
}

func TestAddPoliciesKeepsCounts(t *testing.T) {
	t.Parallel()
	m := New(Options{Policies: []string{"api"}})
	m.Decision("api", ResultAllowed, limiter.SourceOwner)
	m.AddPolicies("api", "login")
	m.Decision("api", ResultAllowed, limiter.SourceOwner)
	wantLines(t, scrape(t, m),
		`murmurate_decisions_total{policy="api",result="allowed",source="owner"} 2`,
		`murmurate_decisions_total{policy="login",result="allowed",source="owner"} 0`,
	)
}

func TestGaugesAreReadOnEachScrape(t *testing.T) {
	t.Parallel()
	keys, states, without, unheeded, overrides := 7, map[string]int{"active": 3, "leaving": 0}, uint64(5), uint64(2), 4
	m := New(Options{
		Keys: func() int { return keys }, Members: func() map[string]int { return states }, WithoutAddress: func() uint64 { return without },
		Unheeded: func() uint64 { return unheeded }, Overrides: func() int { return overrides },
	})
	wantLines(t, scrape(t, m), `murmurate_keys 7`, `murmurate_requests_without_address_total 5`, `murmurate_unheeded_client_addresses_total 2`,
		`murmurate_overrides 4`, `murmurate_cluster_members{state="active"} 3`, `murmurate_cluster_members{state="leaving"} 0`)

	keys, states, without, unheeded, overrides = 8, map[string]int{"active": 2}, 6, 3, 0
	text := scrape(t, m)
	wantLines(t, text, `murmurate_keys 8`, `murmurate_requests_without_address_total 6`, `murmurate_unheeded_client_addresses_total 3`,
		`murmurate_overrides 0`, `murmurate_cluster_members{state="active"} 2`)
	if strings.Contains(text, `state="leaving"`) {
		t.Error("a state that is gone is still shown")
	}
}

func TestReloadIsReadOnEachScrape(t *testing.T) {
	t.Parallel()
	last := Reload{OK: true, Success: time.UnixMilli(1500)}
	m := New(Options{Reload: func() Reload { return last }})
	wantLines(t, scrape(t, m),
		"murmurate_config_last_reload_successful 1", "murmurate_config_last_reload_success_timestamp_seconds 1.5")
	last.OK = false
	wantLines(t, scrape(t, m),
		"murmurate_config_last_reload_successful 0", "murmurate_config_last_reload_success_timestamp_seconds 1.5")
}

func TestNodesDoNotShareMetrics(t *testing.T) {
	t.Parallel()
	a, b := New(Options{Policies: []string{"api"}}), New(Options{Policies: []string{"api"}})
	a.Decision("api", ResultAllowed, limiter.SourceOwner)
	wantLines(t, scrape(t, b), `murmurate_decisions_total{policy="api",result="allowed",source="owner"} 0`)
}

func TestNamesFollowPrometheusPractice(t *testing.T) {
	t.Parallel()
	m := New(Options{
		Version: "1.2.3", Policies: []string{"api"}, Forwards: []string{"ok"},
		Keys: func() int { return 1 }, Members: func() map[string]int { return map[string]int{"active": 1} },
		Reload: func() Reload { return Reload{} }, WithoutAddress: func() uint64 { return 0 }, Unheeded: func() uint64 { return 0 },
		Overrides: func() int { return 0 },
	})
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestDecisionAllocatesNothing(t *testing.T) {
	m := New(Options{Policies: []string{"api"}, Forwards: []string{"ok"}})
	n := testing.AllocsPerRun(100, func() {
		m.Decision("api", ResultAllowed, limiter.SourceOwner)
		m.Forward("ok")
	})
	if n != 0 {
		t.Errorf("%v allocations a decision", n)
	}
}

func BenchmarkDecision(b *testing.B) {
	m := New(Options{Policies: []string{"default", "api", "login"}})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Decision("api", ResultAllowed, limiter.SourceOwner)
		}
	})
}

func TestSettlementsAreCountedByResult(t *testing.T) {
	t.Parallel()
	m := New(Options{})
	for _, result := range []string{ResultSettled, ResultSettled, ResultRefused, ResultFailed, "never announced"} {
		m.Settlement(result)
	}
	wantLines(t, scrape(t, m),
		`murmurate_settlements_total{result="settled"} 2`,
		`murmurate_settlements_total{result="refused"} 1`,
		`murmurate_settlements_total{result="failed"} 2`,
	)
}
