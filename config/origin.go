package config

import "strings"

// origin says where each setting got its value.
type origin struct {
	doc  *document
	from map[string]string // path -> variable or flag
	bad  map[string]bool   // paths whose value could not be read
}

// origins follows the layers: a later assignment hides an earlier one, and
// any hides the file.
func origins(d *document, set []assignment) *origin {
	o := &origin{doc: d, from: make(map[string]string), bad: make(map[string]bool)}
	for path := range d.unsound {
		o.bad[path] = true
	}
	for _, a := range set {
		o.from[a.path] = a.from
		o.bad[a.path] = a.value == nil
	}
	return o
}

// unsound reports whether the setting at path, or one that it belongs to,
// has a fault already. What is said of its value would then only confuse.
func (o *origin) unsound(path string) bool {
	for p := path; p != ""; p = parent(p) {
		if o.bad[p] {
			return true
		}
	}
	return false
}

// fault gives a problem the place of the nearest thing that somebody wrote.
func (o *origin) fault(p problem) Fault {
	f := Fault{Path: p.path, Detail: p.detail}
	for at := p.path; at != ""; at = parent(at) {
		if f.Var = o.from[at]; f.Var != "" {
			return f
		}
	}
	for at := p.path; at != ""; at = parent(at) {
		if line := o.doc.lines[at]; line > 0 {
			f.File, f.Line = o.doc.file, line
			return f
		}
	}
	return f
}

// parent is the path of what path belongs to, or empty.
func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}
