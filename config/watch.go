package config

import (
	"os"
	"sync"
)

// Watch loads one configuration again and again, and knows when its files say
// something else: the configuration file, those of policies_dir, and the
// certificates. It compares what they hold, so it makes no difference how a
// change came about: by writing, by renaming, by a symbolic link on the way
// that leads elsewhere now, as Kubernetes has it, or by a remote file system
// that tells nobody. It starts nothing: whoever owns it looks from time to
// time. Not for concurrent use.
type Watch struct {
	source  Source
	regular bool                   // the configuration file can be read twice
	once    func() ([]byte, error) // reads one that cannot
	sound   *files                 // of the last configuration without faults
	loaded  *files                 // of what was loaded last, sound or not
	looked  *files                 // what was there at the last look
}

// NewWatch watches the files of s. Load is to be called before the others.
func NewWatch(s Source) *Watch {
	return &Watch{
		source:  s,
		regular: isRegular(s.File),
		once:    sync.OnceValues(func() ([]byte, error) { return readFile(s.File) }),
		sound:   newFiles(),
		loaded:  newFiles(),
		looked:  newFiles(),
	}
}

// isRegular reports whether path leads to a file. What comes through a pipe
// is there once.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// HasFiles reports whether what was loaded last came from any file that can
// be read again. A pipe is none.
func (w *Watch) HasFiles() bool { return len(w.loaded.contents)+len(w.loaded.lists) > 0 }

// Load is [Load] of the source as it is now.
func (w *Watch) Load() (c *Config, err error) {
	w.loaded, w.looked = atOneTime(func(f *files) { c, err = w.load(f) })
	return c, err
}

// readings is how often files are read at most.
const readings = 3

// atOneTime calls load, which reads through f, until all that it has read is
// still there afterwards: files that are swapped together, such as a
// certificate and its key, are then of one version. It returns what was
// loaded and what was found afterwards, which differ if the files never rest.
func atOneTime(load func(f *files)) (loaded, now *files) {
	for range readings {
		loaded = newFiles()
		load(loaded)
		if now = loaded.again(); now.equal(loaded) {
			break
		}
	}
	return loaded, now
}

func (w *Watch) load(f *files) (*Config, error) {
	c, err := w.loadThrough(f)
	if err == nil {
		w.sound = f
	} else {
		f.add(w.sound) // which has its certificates still
	}
	return c, err
}

func (w *Watch) loadThrough(f *files) (*Config, error) {
	data, err := w.readFile(f)
	if err != nil {
		return nil, &Faults{List: []Fault{{File: w.source.File, Detail: err.Error()}}}
	}
	return load(readDocument(w.source.File, data), w.source, f)
}

// readFile reads the configuration file, if there is one.
func (w *Watch) readFile(f *files) ([]byte, error) {
	switch {
	case w.source.File == "":
		return nil, nil
	case w.regular:
		return f.read(w.source.File)
	default:
		return w.once()
	}
}

// Changed reports, once, that the files hold something else than what was
// loaded last, that there are others, or that one cannot be read any more. It
// believes what it finds twice in a row, as an editor may be half-way through.
func (w *Watch) Changed() bool {
	now := w.loaded.again()
	settled := now.equal(w.looked)
	w.looked = now
	return settled && !now.equal(w.loaded)
}
