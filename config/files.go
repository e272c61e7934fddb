package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// files is what a configuration was read from: what the files held and the
// directories listed at that time.
type files struct {
	contents map[string]content // by path
	lists    map[string]content // by path of the directory
}

// content stands for what a file holds, or for why it cannot be read.
type content struct {
	sum [sha256.Size]byte
	err string
}

func contentOf(data []byte, err error) content {
	if err != nil {
		return content{err: err.Error()}
	}
	return content{sum: sha256.Sum256(data)}
}

func newFiles() *files {
	return &files{contents: make(map[string]content), lists: make(map[string]content)}
}

var errNotRegular = errors.New("cannot be read: it is no regular file")

// read reads a file that can be read again. Its errors leave the name out.
func (f *files) read(path string) (data []byte, err error) {
	defer func() { f.contents[path] = contentOf(data, err) }()
	switch info, err := os.Stat(path); { //nolint:gosec // as in readFile
	case err != nil:
		return nil, unreadable(err)
	case !info.Mode().IsRegular():
		return nil, errNotRegular // to open a pipe could take for ever
	}
	return readFile(path)
}

// policyFiles is what the files of policies_dir end in.
var policyFiles = []string{".yaml", ".yml", ".json"}

// list returns the names of the policy files in a directory, sorted. Hidden
// entries are none: what begins with two dots is how Kubernetes keeps the
// versions of a volume.
func (f *files) list(dir string) (names []string, err error) {
	defer func() { f.lists[dir] = contentOf([]byte(strings.Join(names, "\x00")), err) }()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, unreadable(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, ".") && slices.Contains(policyFiles, strings.ToLower(filepath.Ext(name))) {
			names = append(names, name)
		}
	}
	return names, nil
}

// again is what is there now: the same files, and what the directories list.
func (f *files) again() *files {
	now := newFiles()
	for dir := range f.lists {
		names, _ := now.list(dir) // errors are remembered, here and below
		for _, name := range names {
			_, _ = now.read(filepath.Join(dir, name))
		}
	}
	now.add(f)
	return now
}

// add reads the files of other that f has not been read from.
func (f *files) add(other *files) {
	for path := range other.contents {
		if _, done := f.contents[path]; !done {
			_, _ = f.read(path) // the error is remembered
		}
	}
}

// equal reports whether f and other were read from the same.
func (f *files) equal(other *files) bool {
	return maps.Equal(f.contents, other.contents) && maps.Equal(f.lists, other.lists)
}

// maxFile bounds what is read of any file.
const maxFile = 16 << 20

// readFile reads a file that the operator named. Its errors leave the name out.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path) //nolint:gosec // as below
	if err == nil && info.Mode().Type() == fs.ModeNamedPipe && !isOpen(path) {
		return nil, errPipe
	}
	f, err := os.Open(path) //nolint:gosec // reading the operator's files is what this package is for
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, unreadable(err)
	case len(data) > maxFile:
		return nil, fmt.Errorf("cannot be read: larger than %d MiB", maxFile>>20)
	}
	return data, nil
}

var errPipe = errors.New("cannot be read: it is a named pipe, which could take for ever; give a file, or /dev/stdin")

// isOpen reports whether path leads to what the process was given open, such as
// the pipe of a shell's <(command). That has a writer, or had one.
func isOpen(path string) bool {
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

func unreadable(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}
