package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// Source is where a configuration comes from. The zero value gives the
// defaults.
type Source struct {
	// File is the path of the configuration file. Empty: none.
	File string
	// Env is the environment as os.Environ gives it. MURMURATE_HTTP_LISTEN
	// sets http.listen; elements of a list stand between commas.
	// MURMURATE_CLUSTER_SECRET_FILE, and the like of the other secrets,
	// names a file that holds the value. A MURMURATE_ variable that is no
	// setting is a fault, except what Kubernetes adds for a Service of that
	// name.
	Env []string
	// Flags are the values of the flags that were given, by the path of
	// their setting, such as "cluster.join".
	Flags map[string]any
}

// Load reads a configuration: flags, then environment, then file, then
// defaults. Its error is [*Faults].
func Load(s Source) (*Config, error) {
	return NewWatch(s).Load()
}

// loadRead goes on from what reading the file of s gave.
func loadRead(s Source, data []byte, err error) (*Config, error) {
	if err != nil {
		return nil, &Faults{List: []Fault{{File: s.File, Detail: err.Error()}}}
	}
	return load(readDocument(s.File, data), s)
}

func load(d *document, s Source) (*Config, error) {
	env, envFaults := readEnv(s.Env)
	flags, flagFaults := readFlags(s.Flags)
	set := slices.Concat(env, flags)
	faults := slices.Concat(d.faults, envFaults, flagFaults)
	c, err := merge(d.values, set)
	if err != nil { // the values are of the right types already: only a gap in the schema leads here
		return nil, &Faults{List: append(faults, Fault{File: d.file, Detail: err.Error()})}
	}
	o := origins(d, set)
	if !d.broken {
		for _, p := range c.problems(o) {
			faults = append(faults, o.fault(p))
		}
	}
	if len(faults) > 0 {
		sortFaults(faults)
		return nil, &Faults{List: faults}
	}
	c.complete()
	for _, w := range c.policyWarnings() {
		c.warnings = append(c.warnings, o.fault(w))
	}
	sortFaults(c.warnings)
	return c, nil
}

// merge lays the assignments, in their order, over the file and the file
// over the defaults. All values are typed as the schema says.
func merge(file map[string]any, set []assignment) (*Config, error) {
	v := viper.New()
	defaults := reflect.ValueOf(Default()).Elem()
	for _, s := range settings() {
		v.SetDefault(s.path, defaults.FieldByIndex(s.index).Interface())
	}
	if err := v.MergeConfigMap(file); err != nil {
		return nil, err
	}
	for _, a := range set {
		if a.value != nil {
			v.Set(a.path, a.value)
		}
	}
	c := new(Config)
	err := v.UnmarshalExact(c, func(dc *mapstructure.DecoderConfig) {
		dc.TagName = "yaml"
		dc.Squash = true // of embedded groups
		dc.WeaklyTypedInput = false
		dc.DecodeHook = nil
	})
	return c, err
}

// maxFile bounds what is read of any file.
const maxFile = 16 << 20

// readFile reads a file that the operator named. Its errors leave the name out.
func readFile(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().Type() == fs.ModeNamedPipe && !isOpen(path) {
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
