package journal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/murmurate/murmurate/internal/leak"
)

func TestMain(m *testing.M) {
	if os.Getenv(writerEnv) != "" {
		write()
		return
	}
	leak.Main(m)
}

func opened(t *testing.T, dir string) *Journal {
	t.Helper()
	j, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, j) })
	return j
}

func closed(t *testing.T, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func put(t *testing.T, r *Records, records map[string][]byte) {
	t.Helper()
	if err := r.Put(records); err != nil {
		t.Fatal(err)
	}
}

func all(t *testing.T, r *Records) map[string][]byte {
	t.Helper()
	records, err := r.All()
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func equal(a, b map[string][]byte) bool { return maps.EqualFunc(a, b, bytes.Equal) }

func TestRecordsOutliveTheJournal(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "data")
	j := opened(t, dir)
	r, other := j.Bucket(Overrides), j.Bucket("other")
	if got := all(t, r); len(got) != 0 {
		t.Errorf("new: %v", got)
	}
	put(t, r, map[string][]byte{"a": []byte("1"), "b": {}, "c": []byte("3")})
	put(t, r, map[string][]byte{"a": []byte("changed"), "c": nil, "never was": nil})
	put(t, other, map[string][]byte{"a": []byte("of another bucket")})
	if err := r.Put(map[string][]byte{"d": []byte("4"), "": []byte("no key")}); err == nil {
		t.Error("a record without a key was taken")
	}
	want := map[string][]byte{"a": []byte("changed"), "b": {}}
	if got := all(t, r); !equal(got, want) {
		t.Errorf("got %q", got)
	}
	closed(t, j)
	j = opened(t, dir)
	if got := all(t, j.Bucket(Overrides)); !equal(got, want) {
		t.Errorf("afterwards %q", got)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, fileName): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestPutsAtOneTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := opened(t, dir)
	var writing sync.WaitGroup
	for i := range 8 {
		writing.Go(func() {
			for n := range 10 {
				if err := j.Bucket(Overrides).Put(map[string][]byte{fmt.Sprint(i, "-", n): {1}, "shared": {byte(i)}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	closed(t, j)
	var log bytes.Buffer
	j, err := Open(dir, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, j)
	if n := len(all(t, j.Bucket(Overrides))); n != 81 || log.Len() > 0 {
		t.Errorf("%d records, %s", n, &log)
	}
}

func TestDirectoriesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	inUse := t.TempDir()
	opened(t, inUse)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	readOnly := t.TempDir()
	if err := os.Chmod(readOnly, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, want string
		skip      bool
	}{
		{dir: inUse, want: "a data directory of its own"},
		{dir: file, want: "not a directory"},
		{dir: readOnly, want: "permission denied", skip: os.Geteuid() == 0}, // root may write anywhere
	} {
		if c.skip {
			continue
		}
		j, err := Open(c.dir, nil)
		if err == nil {
			closed(t, j)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.dir) {
			t.Errorf("%s: %v, want %s", c.dir, err, c.want)
		}
		if errors.Is(err, ErrLocked) != (c.dir == inUse) {
			t.Errorf("%s: %v", c.dir, err)
		}
	}
}
