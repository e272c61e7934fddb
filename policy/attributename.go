package policy

import (
	"slices"
	"strings"
)

// attributeNames are the names of the attributes that rules look at.
func attributeNames(all []*rules) map[string]bool {
	names := make(map[string]bool)
	add := func(fields []Field) {
		for _, f := range fields {
			names[f.Name] = true
		}
	}
	for _, r := range all {
		p := r.plans[0].policy
		names[p.Cost.Attr] = true // empty is no attribute's name
		add(p.Match.Attribute)
		for i := range p.Exempt {
			add(p.Exempt[i].Attribute)
		}
		for _, entry := range append(slices.Clone(r.key), r.tierBy) {
			for _, s := range entry {
				if s.kind == KeyAttr {
					names[s.name] = true
				}
			}
		}
	}
	return names
}

// MisspeltAttribute is what requests say of themselves that the name of an
// attribute was likely meant for, such as "path" for "pth": it is one letter
// off, and no policy looks at an attribute of that name. Empty: nothing is.
//
// Short words have other words around them. What is near to ip (id, vip), or
// differs from host or path in a letter (cost, math), is left alone.
func (s *Set) MisspeltAttribute(name string) string {
	if s.attributes[name] {
		return ""
	}
	folded := strings.ToLower(name)
	for _, meant := range ownMembers {
		longer := len(folded) - len(meant)
		if meant == "ip" || longer < -1 || longer > 1 || distance(folded, meant) != 1 {
			continue
		}
		if short := len(meant) == len("path"); !short || longer != 0 || sameLetters(folded, meant) {
			return meant
		}
	}
	return ""
}

// sameLetters reports whether a and b differ in the order of their bytes alone.
func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
