package scenario_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var mutations = flag.Bool("mutations", false, "build the product with each mutation, and see that a test fails")

// root is the module's folder, seen from here.
const root = "../.."

// mutation is one rule of the product taken away, to see whether it is missed.
type mutation struct {
	tests []string // arguments of the test binary that must fail
	edits []edit
}

// edit replaces a text that occurs exactly once in a file.
type edit struct{ file, old, new string }

// readMutation reads a file of testdata/mutations: comments that say what is
// taken away, the line "caught by ARGUMENTS", and for each edit
//
//	--- FILE
//	what is there
//	+++
//	what is to be there
func readMutation(path string) (*mutation, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &mutation{}
	head, rest, _ := strings.Cut("\n"+string(text), "\n--- ")
	for line := range strings.Lines(head) {
		if arguments, ok := strings.CutPrefix(line, "caught by "); ok {
			m.tests = strings.Fields(arguments)
		}
	}
	for _, part := range strings.Split(rest, "\n--- ") {
		file, change, _ := strings.Cut(part, "\n")
		old, replacement, ok := strings.Cut("\n"+change, "\n+++\n")
		if !ok {
			return nil, fmt.Errorf("%s: the edit of %s has no +++", path, file)
		}
		m.edits = append(m.edits, edit{file, strings.TrimPrefix(old, "\n"), strings.TrimSuffix(replacement, "\n")})
	}
	if len(m.tests) == 0 {
		return nil, fmt.Errorf("%s: no line says by what it is caught", path)
	}
	return m, nil
}

// overlay writes the mutated files to dir, and the file that go build takes
// them from.
func (m *mutation) overlay(dir string) (string, error) {
	replace := make(map[string]string)
	for i, e := range m.edits {
		path, err := filepath.Abs(filepath.Join(root, e.file))
		if err != nil {
			return "", err
		}
		from := path
		if earlier, ok := replace[path]; ok {
			from = earlier
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(text), e.old); n != 1 {
			return "", fmt.Errorf("stale: %s has this %d times, not once:\n%s", e.file, n, e.old)
		}
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		mutated := strings.Replace(string(text), e.old, e.new, 1)
		if err := os.WriteFile(replace[path], []byte(mutated), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

// TestMutations takes one rule of the product away at a time. Every mutation
// must still fit the product's code; with -mutations it is built, and the
// tests that it names must fail.
func TestMutations(t *testing.T) {
	paths, err := filepath.Glob("testdata/mutations/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no mutations: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			m, err := readMutation(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			overlay, err := m.overlay(dir)
			if err != nil {
				t.Fatal(err)
			}
			if *mutations {
				mustFail(t, filepath.Join(dir, "mutated.test"), overlay, m.tests)
			}
		})
	}
}

// mutantRuns is how often the tests of a mutation are run. Some only notice it
// in some orders of the goroutines.
const mutantRuns = "-test.count=5"

// mustFail builds this test's binary from the overlay and runs it.
func mustFail(t *testing.T, binary, overlay string, arguments []string) {
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the mutation does not compile: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), binary, append([]string{"-test.timeout=2m", mutantRuns}, arguments...)...).CombinedOutput()
	if err == nil {
		t.Fatalf("nothing noticed the mutation:\n%s", out)
	}
	if !strings.Contains(string(out), "--- FAIL") {
		t.Fatalf("the tests did not fail in a test: %v\n%s", err, out)
	}
	t.Logf("caught:\n%s", firstLines(string(out), 6))
}

func firstLines(text string, n int) string {
	lines := strings.SplitAfterN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "")
}
