package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/config"
)

// followed is a daemon whose configuration a test reloads itself.
func followed(t *testing.T, text string) (f *follower, log *strings.Builder, put func(string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "murmurate.yaml")
	put = func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(text)
	watch := config.NewWatch(config.Source{File: file, Flags: map[string]any{
		"http.listen": anyPort, "cluster.gossip": anyPort, "cluster.peer": anyPort,
	}})
	cfg, err := watch.Load()
	if err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.drain)
	log = new(strings.Builder)
	logger, level := newLogger(log, cfg.Log)
	d.log = logger // from here on it is used by the reloads only
	return &follower{daemon: d, watch: watch, level: level, inForce: cfg}, log, put
}

// metricsOf are the lines of /metrics about the configuration.
func metricsOf(d *daemon) (ok, success string) {
	w := httptest.NewRecorder()
	d.metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name {
		case "murmurate_config_last_reload_successful":
			ok = value
		case "murmurate_config_last_reload_success_timestamp_seconds":
			success = value
		}
	}
	return ok, success
}

func TestFaultsOfAReloadAreLoggedOnce(t *testing.T) {
	t.Parallel()
	f, log, put := followed(t, "policies: [{name: p, key: [global], limits: [{algorithm: token_bucket, rate: 5/s}]}]\n")
	const broken, other = "nodes: {}\nhttpx: {}\n", "nodes: {}\n"
	initial := f.node.Policies()
	_, began := metricsOf(f.daemon)
	for i, step := range []struct {
		text   string
		faults int // lines logged for them, in all
	}{{broken, 2}, {broken, 2}, {other, 3}, {broken, 5}} {
		put(step.text)
		f.reload("test")
		if got := strings.Count(log.String(), "fault in the configuration"); got != step.faults {
			t.Errorf("step %d: %d faults logged, want %d", i, got, step.faults)
		}
		if got := strings.Count(log.String(), "configuration not reloaded"); got != i+1 {
			t.Errorf("step %d: %d times not reloaded", i, got)
		}
		if ok, success := metricsOf(f.daemon); ok != "0" || success != began {
			t.Errorf("step %d: metrics %s and %s, want 0 and %s", i, ok, success, began)
		}
		if r := f.readiness(); !r.Ready || !strings.Contains(f.reloads.condition().Detail, `murmurate.yaml:1: nodes: `) {
			t.Errorf("step %d: %+v", i, r)
		}
		if f.node.Policies() != initial {
			t.Errorf("step %d: the policies changed", i)
		}
	}
	put("log: {level: warn}\npolicies: [{name: q, key: [ip], limits: [{algorithm: token_bucket, rate: 5/s}]}]\n")
	f.reload("test")
	if ok, success := metricsOf(f.daemon); ok != "1" || success == began {
		t.Errorf("mended: metrics %s and %s, began %s", ok, success, began)
	}
	if c := f.reloads.condition(); !c.OK || c.Detail != "" {
		t.Errorf("mended: %+v", c)
	}
	if names := f.node.Policies().Names(); len(names) != 1 || names[0] != "q" || f.level.Level() != slog.LevelWarn {
		t.Errorf("in force: %q, level %v", names, f.level)
	}
	if !strings.Contains(log.String(), "line=2 setting=policies[0].key") {
		t.Errorf("no warning about the key in %s", log)
	}
}
