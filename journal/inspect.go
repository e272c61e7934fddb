package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// inspect looks whether bbolt can be trusted with the file at path. If not,
// the file is set aside, and what is whole in it is returned by bucket.
func inspect(path string, log *slog.Logger) (rescued map[string]map[string][]byte, err error) {
	there, err := exists(path)
	if err != nil || !there {
		return nil, err
	}
	release, damage, err := lock(path)
	if err != nil {
		return nil, err
	}
	whole, walked := read(path)
	if release != nil {
		err = release()
	}
	if damage = errors.Join(damage, walked); damage == nil || err != nil {
		return nil, err
	}
	aside, err := setAside(path)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged (%w), and cannot be set aside: %w", path, damage, err)
	}
	kept := 0
	for _, records := range whole {
		kept += len(records)
	}
	log.Error("the data file is damaged; it was set aside, and what is whole in it was taken over",
		"file", path, "set_aside", aside, "records_taken_over", kept, "damage", damage)
	return whole, nil
}

// lock keeps other processes from the file while it is read. damage says why
// bbolt does not even take it for one of its own.
func lock(path string) (release func() error, damage, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 {
		return nil, errors.New("it is empty"), nil
	}
	db, err := bbolt.Open(path, 0o600, options(true))
	switch {
	case err == nil:
		return db.Close, nil, nil
	case errors.Is(err, berrors.ErrTimeout):
		return nil, nil, ErrLocked
	case isSystem(err):
		return nil, nil, err
	}
	return nil, err, nil
}

// isSystem reports whether err is the operating system's, and so says nothing
// of the file's content.
func isSystem(err error) bool {
	var path *fs.PathError
	var number syscall.Errno
	return errors.As(err, &path) || errors.As(err, &number)
}

// setAside gives the file at path another name.
func setAside(path string) (aside string, err error) {
	stamp := path + ".damaged-" + time.Now().UTC().Format("20060102T150405")
	aside = stamp
	for n := 2; ; n++ {
		taken, err := exists(aside)
		if err != nil {
			return "", err
		}
		if !taken {
			return aside, os.Rename(path, aside)
		}
		aside = fmt.Sprintf("%s-%d", stamp, n)
	}
}
