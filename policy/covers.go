package policy

import (
	"slices"
	"strings"
)

// exemptsAll says that e leaves nothing that selected takes to be charged, or
// is empty: it may.
func (e *exemption) exemptsAll(selected *matcher) string {
	switch {
	case !e.matcher.covers(selected):
		return ""
	case !e.network.IsValid():
		return "exempts whatever the policy matches, so its limits never deny: narrow it, or remove the policy"
	case e.network.Bits() > 0:
		return ""
	case e.network.Addr().Is4():
		return "exempts every client that has an IPv4 address: write the networks that are meant"
	default:
		return "exempts every client that has an IPv6 address: write the networks that are meant"
	}
}

// covers reports whether every request that m's other takes is also taken by
// m, as far as that can be told: false where it is not known. That paths can
// be ambiguous makes no difference here.
func (m *matcher) covers(other *matcher) bool {
	if len(m.methods) > 0 && (len(other.methods) == 0 ||
		slices.ContainsFunc(other.methods, func(method string) bool { return !slices.Contains(m.methods, method) })) {
		return false
	}
	return m.host.covers(other.host) && m.path.covers(other.path) && len(m.fields) == 0
}

// covers reports whether h takes every host that other takes. Nil takes all.
func (h *hostPattern) covers(other *hostPattern) bool {
	switch {
	case h == nil:
		return true
	case other == nil:
		return false
	case other.suffix != "": // as are all below it
		return strings.HasSuffix(other.suffix, h.suffix) && h.suffix != ""
	}
	return h.match(other.name)
}

// covers reports whether p takes every path that other takes, false where it
// is not known. Nil takes all.
func (p *pathPattern) covers(other *pathPattern) bool {
	switch {
	case p == nil:
		return true
	case other == nil:
		other = &pathPattern{segments: []patternSegment{{kind: anySegments}}}
	}
	for i, s := range p.segments {
		switch {
		case s.kind == anySegments && i == len(p.segments)-1:
			return true
		case i >= len(other.segments):
			return false
		}
		switch o := other.segments[i]; {
		case s.kind == anySegments, o.kind == anySegments:
			if s.kind != o.kind {
				return false
			}
		case s.kind == literalSegment && (o.kind != literalSegment || o.literal != s.literal):
			return false
		}
	}
	return len(other.segments) == len(p.segments)
}
