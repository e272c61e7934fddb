package journal

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// diary is a log that is read while it is written.
type diary struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (d *diary) Write(line []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(line)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// A directory that is taken away under the running process is noticed, and told
// to the log once a minute.
func TestFileThatIsTakenAway(t *testing.T) {
	t.Parallel()
	for what, take := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"replaced": func(dir string) error {
			file := filepath.Join(dir, fileName)
			if err := os.Rename(file, file+".old"); err != nil {
				return err
			}
			return os.WriteFile(file, nil, 0o600)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			synctest.Test(t, func(t *testing.T) {
				j, err := Open(dir, nil)
				if err != nil {
					t.Fatal(err)
				}
				var log diary
				c, err := j.Counters(slog.New(slog.NewTextHandler(&log, nil)), 0)
				if err != nil {
					t.Fatal(err)
				}
				after := func(pause time.Duration, lines int) {
					t.Helper()
					time.Sleep(pause)
					synctest.Wait()
					err := j.Trouble()
					if got := strings.Count(log.String(), "level=ERROR"); got != lines || (err != nil) != (lines > 0) {
						t.Errorf("%d lines, want %d; trouble %v", got, lines, err)
					}
				}
				after(2*sweepEvery+1, 0)
				if err := take(dir); err != nil {
					t.Fatal(err)
				}
				after(sweepEvery, 1)
				after(complainEvery-2*sweepEvery, 1)
				after(3*sweepEvery, 2)
				if !strings.Contains(log.String(), "was "+what) || !strings.Contains(log.String(), dir) {
					t.Errorf("the log says %s", &log)
				}
				closeCounters(t, j, c)
			})
		})
	}
}

// A write that fails is trouble until one succeeds, however many fail.
func TestWritesThatFailAreTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, err := Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var log diary
		c, err := j.Counters(slog.New(slog.NewTextHandler(&log, nil)), 0)
		if err != nil {
			t.Fatal(err)
		}
		empty := map[string][]byte{"": {1}} // which bbolt refuses
		for range 3 {
			if err := j.Bucket(Overrides).Put(empty); err == nil || j.Trouble() == nil {
				t.Errorf("%v, trouble %v", err, j.Trouble())
			}
			time.Sleep(sweepEvery)
		}
		mustKeep(t, c.Keep(idOf(1), limiter.Window{Used: 1, End: far}, 10))
		if err := j.Trouble(); err != nil {
			t.Errorf("after a write: %v", err)
		}
		closeCounters(t, j, c)
		if got := strings.Count(log.String(), "the last write"); got != 1 {
			t.Errorf("%d lines, want 1: %s", got, &log)
		}
	})
}
