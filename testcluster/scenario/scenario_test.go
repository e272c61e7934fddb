package scenario_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/internal/leak"
	"github.com/murmurate/murmurate/internal/race"
	"github.com/murmurate/murmurate/testcluster/scenario"
)

var (
	update = flag.Bool("update", false, "write what the scenarios say into their files")
	file   = flag.String("file", "", "a scenario to play instead of those in testdata")
)

func TestMain(m *testing.M) { leak.Main(m) }

// virtual skips tests in bubbles under the race detector, which is too slow
// for whole clusters.
func virtual(t *testing.T) {
	t.Helper()
	if race.Enabled {
		t.Skip("whole clusters on virtual time: the loopback tests run with the race detector")
	}
}

// TestFiles plays every scenario in testdata.
func TestFiles(t *testing.T) {
	t.Parallel()
	virtual(t)
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	if *file != "" {
		paths = []string{*file}
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := scenario.Parse(path, string(text))
			if err != nil {
				t.Fatal(err)
			}
			s.Run(t, scenario.RunOptions{Update: *update})
			if got := s.String(); *update && got != string(text) {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
