package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

const (
	// fileName is that of the file in a data directory.
	fileName = "murmurate.db"
	// lockPatience is how long to wait for a process that is about to end.
	lockPatience = 2 * time.Second
)

// ErrLocked means that another process has the data directory.
var ErrLocked = errors.New("another process uses it: give every node a data directory of its own")

// Journal is the file of one node. It is safe for concurrent use.
type Journal struct {
	db      *bbolt.DB
	path    string
	opened  fs.FileInfo // of the file
	trouble trouble
}

// Open opens the file in dir, both of which are made if they do not exist,
// for their owner only. What is damaged is set aside and told to log, which
// may be nil. The error is for a directory that cannot be used, such as
// ErrLocked, and names it.
func Open(dir string, log *slog.Logger) (*Journal, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	j, err := open(dir, log)
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", dir, err)
	}
	return j, nil
}

func open(dir string, log *slog.Logger) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fileName)
	rescued, err := inspect(path, log)
	if err != nil {
		return nil, err
	}
	db, err := bbolt.Open(path, 0o600, options(false))
	if err != nil {
		return nil, lockError(err)
	}
	opened, err := os.Stat(path)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	j := &Journal{db: db, path: path, opened: opened}
	for name, records := range rescued {
		if len(records) == 0 {
			continue
		}
		if err := j.Bucket(Bucket(name)).Put(records); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	return j, syncDir(dir)
}

// options are those of the file. Its list of free pages is not kept but made
// anew by Open, so nothing depends on it.
func options(readOnly bool) *bbolt.Options {
	return &bbolt.Options{
		Timeout: lockPatience, PageSize: pageBytes, ReadOnly: readOnly,
		NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, NoStatistics: true,
	}
}

func lockError(err error) error {
	if errors.Is(err, berrors.ErrTimeout) {
		return ErrLocked
	}
	return err
}

// syncDir makes a new file's name as durable as its content. Windows has no
// such call, nor need of one.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir) //nolint:gosec // the operator named it
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Close lets go of the file. It waits for a Put under way.
func (j *Journal) Close() error { return j.db.Close() }

// exists reports whether there is a file at path.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
