package config

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// origin says where each setting got its value.
type origin struct {
	doc *document
	set map[string]source // by path; what is not here is the file's, or a default
}

// source is a variable or a flag.
type source struct {
	name  string
	order int  // a later one takes effect after an earlier one
	bad   bool // its value could not be read
}

// origins follows the layers: a later assignment hides an earlier one, and
// any hides the file.
func origins(d *document, set []assignment) *origin {
	o := &origin{doc: d, set: make(map[string]source, len(set))}
	for i, a := range set {
		o.set[a.path] = source{name: a.from, order: i, bad: a.value == nil}
	}
	return o
}

// unsound reports whether the setting at path, or one that it belongs to,
// has a fault already. What is said of its value would then only confuse.
func (o *origin) unsound(path string) bool {
	for p := path; p != ""; p = parent(p) {
		if s, ok := o.set[p]; ok {
			return s.bad // what the file says, right or wrong, is hidden
		}
	}
	for p := path; p != ""; p = parent(p) {
		if o.doc.unsound[p] {
			return true
		}
		if _, own := o.doc.roots[p]; own {
			break // what surrounds it is in another file
		}
	}
	return false
}

// follows reports whether a fault at path may only show that something else
// could not be read: a part of what is there, or what it refers to.
func (o *origin) follows(path string) bool {
	for p := range o.doc.unsound {
		if strings.HasPrefix(p, path+".") || strings.HasPrefix(p, path+"[") {
			return true
		}
	}
	place := policyPlace.FindStringSubmatch(path)
	switch {
	case place == nil:
		return false
	case place[2] == "key": // path:NAME refers to the pattern
		return o.unsound(place[1] + ".match.path")
	case place[3] == "name": // of a limit in tiers or overrides, which refers to the policy's
		return o.unsoundNames(place[1] + ".limits")
	}
	return false
}

// policyPlace takes apart the path of what can refer to another setting.
var policyPlace = regexp.MustCompile(`^(policies\[[0-9]+\])\.(key|tiers\.sets|overrides)\[[0-9]+\](?:\.limits\[[0-9]+\]\.(name))?$`)

// unsoundNames reports whether the names in the list at path are not all known.
func (o *origin) unsoundNames(path string) bool {
	if o.unsound(path) {
		return true
	}
	for p := range o.doc.unsound {
		if rest, ok := strings.CutPrefix(p, path+"["); ok && (strings.HasSuffix(rest, "].name") || strings.HasSuffix(rest, "]")) {
			return true
		}
	}
	return false
}

// later reports whether a was set after b: defaults come first, then the
// file by its lines, then variables and flags.
func (o *origin) later(a, b string) bool {
	layerA, orderA := o.rank(a)
	layerB, orderB := o.rank(b)
	return cmp.Or(cmp.Compare(layerA, layerB), cmp.Compare(orderA, orderB)) > 0
}

func (o *origin) rank(path string) (layer, order int) {
	if s, ok := o.set[path]; ok {
		return 2, s.order
	}
	if o.doc.written[path] {
		return 1, o.doc.lines[path]
	}
	return 0, 0
}

// fault gives a problem the place of the nearest thing that somebody wrote.
func (o *origin) fault(p problem) Fault {
	f := o.locate(p.path)
	f.Detail = p.detail
	if p.other != "" {
		if other := o.locate(p.other); other.File != "" {
			f.Detail += fmt.Sprintf(" (%s:%d)", other.File, other.Line)
		}
	}
	return f
}

// locate is the place of path, as a fault without its detail.
func (o *origin) locate(path string) Fault {
	f := Fault{Path: path}
	for at := path; at != ""; at = parent(at) {
		if s, ok := o.set[at]; ok {
			f.Var = s.name
			return f
		}
	}
	for at := path; at != ""; at = parent(at) {
		if line := o.doc.lines[at]; line > 0 {
			f.Line = line
			f.File, f.Path = o.doc.place(path)
			return f
		}
	}
	return f
}

// parent is the path of what path belongs to, or empty.
func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}
