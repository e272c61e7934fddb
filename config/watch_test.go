package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// limitOf is a file with one policy, of n a minute.
func limitOf(n string) string {
	return "policies: [{name: p, limits: [{algorithm: sliding_window, rate: " + n + "/min}]}]\n"
}

// policyOf is a file that is one policy, of n a minute.
func policyOf(name, n string) string {
	return "name: " + name + "\nlimits: [{algorithm: sliding_window, rate: " + n + "/min}]\n"
}

// watchStep is what happens in the directory of a file. Two looks follow: the
// first only notices, the second reports.
type watchStep struct {
	does    string
	do      func(dir string) error
	changed bool
	rate    string // of the policy when loaded then; empty: faults
}

func put(name, text string) func(string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
}

func rename(from, to string) func(string) error {
	return func(dir string) error { return os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)) }
}

// link makes a symbolic link as Kubernetes does: aside, and renamed at once
// over the one that is there.
func link(to, name string) func(string) error {
	return func(dir string) error {
		if err := os.Symlink(to, filepath.Join(dir, "link-tmp")); err != nil {
			return err
		}
		return rename("link-tmp", name)(dir)
	}
}

func makeDir(name string) func(string) error {
	return func(dir string) error { return os.Mkdir(filepath.Join(dir, name), 0o700) }
}

func remove(name string) func(string) error {
	return func(dir string) error { return os.RemoveAll(filepath.Join(dir, name)) }
}

func TestWatchSeesEveryChangeOnce(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]watchStep{
		"a file": {
			{"begins", put("c.yaml", limitOf("1")), false, "1/min"},
			{"is left alone", put("other", ""), false, "1/min"},
			{"is written", put("c.yaml", limitOf("2")), true, "2/min"},
			{"is written as it was", put("c.yaml", limitOf("2")), false, "2/min"},
			{"gets a fault", put("c.yaml", limitOf("-2")), true, ""},
			{"is mended as it was", put("c.yaml", limitOf("2")), true, "2/min"},
			{"has a new one beside it", put("new", limitOf("3")), false, "2/min"},
			{"is renamed over", rename("new", "c.yaml"), true, "3/min"},
			{"is taken away", remove("c.yaml"), true, ""},
			{"is a directory", makeDir("c.yaml"), true, ""},
			{"is a directory with something in it", put("c.yaml/x", ""), false, ""},
			{"is taken away too", remove("c.yaml"), true, ""},
			{"comes back", put("c.yaml", limitOf("3")), true, "3/min"},
		},
		"a ConfigMap": {
			{"makes the first version", makeDir("..1"), false, ""},
			{"fills it", put("..1/c.yaml", limitOf("1")), false, ""},
			{"leads to it", link("..1", "..data"), false, ""},
			{"begins", link("..data/c.yaml", "c.yaml"), false, "1/min"},
			{"makes the second version", makeDir("..2"), false, "1/min"},
			{"fills it too", put("..2/c.yaml", limitOf("2")), false, "1/min"},
			{"swaps", link("..2", "..data"), true, "2/min"},
			{"takes away the first version", remove("..1"), false, "2/min"},
			{"makes a version with a fault", makeDir("..3"), false, "2/min"},
			{"fills that", put("..3/c.yaml", "policies: ["), false, "2/min"},
			{"swaps again", link("..3", "..data"), true, ""},
			{"goes back", link("..2", "..data"), true, "2/min"},
		},
		"policies_dir": {
			{"makes the directory", makeDir("p"), false, ""},
			{"begins", put("c.yaml", "policies_dir: p\n"+limitOf("1")), false, "1/min"},
			{"gets a file of another kind", put("p/README.md", "- a"), false, "1/min"},
			{"gets a hidden file", put("p/.a.yaml.swp", "- a"), false, "1/min"},
			{"gets a policy", put("p/a.yaml", policyOf("a", "2")), true, "1/min"},
			{"gets another one with a fault", put("p/b.yml", policyOf("b", "-2")), true, ""},
			{"has it mended", put("p/b.yml", policyOf("b", "2")), true, "1/min"},
			{"has it changed", put("p/b.yml", policyOf("b", "3")), true, "1/min"},
			{"has it touched", put("p/b.yml", policyOf("b", "3")), false, "1/min"},
			{"has it emptied", put("p/b.yml", ""), true, ""},
			{"loses it", remove("p/b.yml"), true, "1/min"},
			{"is taken away", remove("p"), true, ""},
			{"comes back empty", makeDir("p"), true, "1/min"},
		},
		"policies_dir of a ConfigMap": {
			{"makes the directory", makeDir("p"), false, ""},
			{"makes the first version", makeDir("p/..1"), false, ""},
			{"fills it", put("p/..1/a.yaml", policyOf("a", "1")), false, ""},
			{"leads to it", link("..1", "p/..data"), false, ""},
			{"leads to its file", link("..data/a.yaml", "p/a.yaml"), false, ""},
			{"begins", put("c.yaml", "policies_dir: p\n"), false, "1/min"},
			{"makes the second version", makeDir("p/..2"), false, "1/min"},
			{"fills it too", put("p/..2/a.yaml", policyOf("a", "2")), false, "1/min"},
			{"swaps", link("..2", "p/..data"), true, "2/min"},
			{"takes away the first version", remove("p/..1"), false, "2/min"},
			{"makes a version without the file", makeDir("p/..3"), false, "2/min"},
			{"fills that", put("p/..3/b.json", `{"name": "b", "limits": [{"algorithm": "token_bucket", "rate": "5/s"}]}`), false, "2/min"},
			{"swaps again", link("..3", "p/..data"), true, ""},
			{"takes away the file's link", remove("p/a.yaml"), true, "100/min"},
			{"leads to the new file", link("..data/b.json", "p/b.json"), true, "5/s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var w *Watch
			for _, s := range steps {
				if err := s.do(dir); err != nil {
					t.Fatal(err)
				}
				if w == nil {
					if s.does == "begins" {
						w = NewWatch(Source{File: filepath.Join(dir, "c.yaml")})
						rateIs(t, w, s)
					}
					continue
				}
				if w.Changed() {
					t.Errorf("%s: believed at first sight", s.does)
				}
				if got := w.Changed(); got != s.changed {
					t.Errorf("%s: changed %t, want %t", s.does, got, s.changed)
				}
				if s.changed {
					rateIs(t, w, s)
				}
				if w.Changed() {
					t.Errorf("%s: changed once more", s.does)
				}
			}
		})
	}
}

func rateIs(t *testing.T, w *Watch, s watchStep) {
	t.Helper()
	c, err := w.Load()
	if (err != nil) != (s.rate == "") || err == nil && c.Policies[0].Limits[0].Rate != s.rate {
		t.Errorf("%s: %v, %+v, want rate %q", s.does, err, c, s.rate)
	}
}

// A writer that empties the file first is not seen half-way.
func TestWatchWaitsForTheEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := limitOf("1")
	if err := put("c.yaml", text)(dir); err != nil {
		t.Fatal(err)
	}
	w := NewWatch(Source{File: filepath.Join(dir, "c.yaml")})
	if _, err := w.Load(); err != nil {
		t.Fatal(err)
	}
	for n := range text { // ends with the file as it was
		if err := put("c.yaml", text[:n+1])(dir); err != nil {
			t.Fatal(err)
		}
		if w.Changed() {
			t.Fatalf("believed after %d of %d bytes", n+1, len(text))
		}
	}
	if w.Changed() {
		t.Error("changed, and holds what was loaded")
	}
}

// Of files that are swapped together, all are of one version.
func TestWhatIsReadWasThereAtOneTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, do := range []func(string) error{
		makeDir("..1"), put("..1/a", "1"), put("..1/b", "1"), makeDir("..2"), put("..2/a", "2"), put("..2/b", "2"), link("..1", "..data"),
	} {
		if err := do(dir); err != nil {
			t.Fatal(err)
		}
	}
	for swaps, want := range map[int][]string{0: {"11"}, 1: {"12", "22"}, 2: {"12", "21", "11"}, 9: {"12", "21", "12"}} {
		if err := link("..1", "..data")(dir); err != nil {
			t.Fatal(err)
		}
		version := 1
		var got []string
		loaded, now := atOneTime(func(f *files) {
			a, errA := f.read(filepath.Join(dir, "..data/a"))
			if swaps > 0 {
				swaps--
				version = 3 - version
				if err := link([]string{"..1", "..2"}[version-1], "..data")(dir); err != nil {
					t.Fatal(err)
				}
			}
			b, errB := f.read(filepath.Join(dir, "..data/b"))
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			got = append(got, string(a)+string(b))
		})
		if !slices.Equal(got, want) || loaded.equal(now) != (got[len(got)-1][0] == got[len(got)-1][1]) {
			t.Errorf("read %q, want %q; settled %t", got, want, loaded.equal(now))
		}
	}
}

// What a reload by hand has loaded is no change any more.
func TestWatchKnowsWhatWasLoaded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := put("c.yaml", limitOf("1"))(dir); err != nil {
		t.Fatal(err)
	}
	w := NewWatch(Source{File: filepath.Join(dir, "c.yaml")})
	rateIs(t, w, watchStep{does: "begins", rate: "1/min"})
	if err := put("c.yaml", limitOf("2"))(dir); err != nil {
		t.Fatal(err)
	}
	if w.Changed() {
		t.Error("believed at first sight")
	}
	rateIs(t, w, watchStep{does: "is loaded by hand", rate: "2/min"})
	for range 2 {
		if w.Changed() {
			t.Error("changed since it was loaded")
		}
	}
}

func TestWatchWithoutFile(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]Source{"none": {}, "a device": {File: os.DevNull}} {
		w := NewWatch(source)
		if _, err := w.Load(); err != nil || w.HasFiles() || w.Changed() {
			t.Errorf("%s: %v, has a file %t", name, err, w.HasFiles())
		}
	}
}
