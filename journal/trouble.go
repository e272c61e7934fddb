package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// complainEvery is how often the log is told that the file cannot be relied on.
const complainEvery = time.Minute

// trouble is why the next process will not find what this one writes.
type trouble struct {
	mu     sync.Mutex
	lost   error // the file is not where it was
	failed error // the last write
}

// Trouble is why what is written cannot be relied on, as far as was seen: the last
// write failed, or within the last second the file was not there any more, so
// that all it gets ends with the process. Nil: all is well.
func (j *Journal) Trouble() error {
	j.trouble.mu.Lock()
	defer j.trouble.mu.Unlock()
	return errors.Join(j.trouble.lost, j.trouble.failed)
}

// look sees whether the file is where it was opened.
func (j *Journal) look() {
	now, err := os.Stat(j.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%s was removed under the running node: what it counts from now on is lost when it ends; end it, and start it anew with the directory back in place", j.path)
	case err == nil && !os.SameFile(now, j.opened):
		err = fmt.Errorf("%s was replaced under the running node, which does not see the new one: start it anew", j.path)
	}
	j.trouble.mu.Lock()
	defer j.trouble.mu.Unlock()
	j.trouble.lost = err
}

// wrote takes in what became of a write, and returns it.
func (j *Journal) wrote(err error) error {
	j.trouble.mu.Lock()
	defer j.trouble.mu.Unlock()
	j.trouble.failed = nil
	if err != nil {
		j.trouble.failed = fmt.Errorf("the last write to %s failed: %w", j.path, err)
	}
	return err
}

// watch looks after the file, and tells the log of what it sees.
func (c *Counters) watch() {
	c.records.journal.look()
	err := c.records.journal.Trouble()
	if now := time.Now(); err != nil && now.Sub(c.complained) >= complainEvery {
		c.complained = now
		c.log.Error("the data directory cannot be relied on; the node goes on", "error", err)
	}
}
