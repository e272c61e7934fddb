package config

import (
	"crypto/sha256"
	"errors"
	"os"
)

// Watch loads one configuration again and again, and knows when its file
// says something else. It compares what the file holds, so it makes no
// difference how a change came about: by writing, by renaming, by a symbolic
// link on the way that leads elsewhere now, as Kubernetes has it, or by a
// remote file system that tells nobody. It starts nothing: whoever owns it
// looks from time to time. Not for concurrent use.
type Watch struct {
	source  Source
	regular bool    // there is a file that can be read twice
	loaded  content // what was loaded last, sound or not
	looked  content // what was there at the last look
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

// NewWatch watches the file of s. Load is to be called before Changed.
func NewWatch(s Source) *Watch { return &Watch{source: s, regular: isRegular(s.File)} }

// isRegular reports whether path leads to a file. What comes through a pipe
// is there once.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// HasFile reports whether there is a file to watch. A pipe is none.
func (w *Watch) HasFile() bool { return w.regular }

// Load is [Load] of the source as it is now.
func (w *Watch) Load() (*Config, error) {
	data, err := w.read()
	w.loaded = contentOf(data, err)
	w.looked = w.loaded
	return loadRead(w.source, data, err)
}

// Changed reports, once, that the file holds something else than what was
// loaded last, or that it cannot be read any more. It believes what it finds
// twice in a row, as an editor may be half-way through.
func (w *Watch) Changed() bool {
	if !w.regular {
		return false
	}
	now := contentOf(w.read())
	settled := now == w.looked
	w.looked = now
	return settled && now != w.loaded
}

var errNotRegular = errors.New("cannot be read: it is no file any more")

func (w *Watch) read() ([]byte, error) {
	if w.source.File == "" {
		return nil, nil
	}
	if info, err := os.Stat(w.source.File); err == nil && w.regular && !info.Mode().IsRegular() {
		return nil, errNotRegular // to open a pipe could take for ever
	}
	return readFile(w.source.File)
}
