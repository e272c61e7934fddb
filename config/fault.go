package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with a configuration.
type Fault struct {
	// File and Line say where, if it came from a file. Line counts from 1;
	// 0 is the whole file.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Var is the environment variable or the flag that it came from.
	Var string `json:"var,omitempty"`
	// Path is the setting, such as "policies[0].limits[1].rate", or
	// "limits[1].rate" in a file that is one policy. Empty: none in particular.
	Path string `json:"path,omitempty"`
	// Detail says what is wrong and what would be right.
	Detail string `json:"detail"`
}

// String is FILE:LINE: PATH: DETAIL, or VARIABLE: PATH: DETAIL.
func (f Fault) String() string {
	var parts []string
	switch {
	case f.Line > 0:
		parts = append(parts, fmt.Sprintf("%s:%d", f.File, f.Line))
	case f.File != "":
		parts = append(parts, f.File)
	case f.Var != "":
		parts = append(parts, f.Var)
	}
	if f.Path != "" {
		parts = append(parts, f.Path)
	}
	return strings.Join(append(parts, f.Detail), ": ")
}

// Faults is the error of a configuration that cannot be used: everything
// that is wrong with it.
type Faults struct { //nolint:errname // plural: it is many faults
	// List is never empty. Faults of the file come first, by line, then those
	// of the files in policies_dir.
	List []Fault
}

// Error is one line for each fault.
func (f *Faults) Error() string {
	lines := make([]string, len(f.List))
	for i := range f.List {
		lines[i] = f.List[i].String()
	}
	return strings.Join(lines, "\n")
}

// sort brings faults of d and of its surroundings into the order of
// [Faults].List.
func (d *document) sort(list []Fault) {
	layer := func(file string) int {
		switch file {
		case d.file:
			return 0
		case "":
			return 2
		default:
			return 1
		}
	}
	slices.SortStableFunc(list, func(a, b Fault) int {
		return cmp.Or(
			cmp.Compare(layer(a.File), layer(b.File)),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Var, b.Var),
		)
	})
}
