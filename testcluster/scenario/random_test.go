package scenario_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/murmurate/murmurate/testcluster/scenario"
)

var (
	seeds = flag.Int("seeds", 8, "how many random scenarios to play")
	seed  = flag.Uint64("seed", 1, "the first of them")
)

// TestRandom plays random scenarios. One that breaks an invariant is written
// to a file, in the language of the others.
func TestRandom(t *testing.T) {
	t.Parallel()
	virtual(t)
	for i := range *seeds {
		seed := *seed + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprintf("random-%d.txt", seed)
			s, err := scenario.Parse(name, scenario.Random(seed))
			if err != nil {
				t.Fatal(err)
			}
			defer report(t, s, name)
			s.Run(t, scenario.RunOptions{})
		})
	}
}

// report leaves the scenario of a test that has failed for a replay.
func report(t *testing.T, s *scenario.Scenario, name string) {
	if !t.Failed() {
		return
	}
	file, err := os.CreateTemp("", "*-"+name)
	if err != nil {
		t.Error(err)
		return
	}
	if _, err := file.WriteString(s.String()); err != nil {
		t.Error(err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	t.Errorf("replay with: go test ./testcluster/scenario -run TestFiles -file=%s\n%s", file.Name(), s)
}
