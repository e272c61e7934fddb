package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxCaptures bounds the {name} segments of one pattern.
const maxCaptures = 8

// captures are the values of a pattern's {name} segments, in their order.
type captures [maxCaptures]string

// pathPattern is a pattern of paths in normal form, segment by segment.
type pathPattern struct {
	segments []patternSegment
	names    []string // of the captures
}

type patternSegment struct {
	kind    segmentKind
	literal string
	capture int // index into captures
}

type segmentKind uint8

const (
	literalSegment segmentKind = iota
	anySegment                 // *: one
	anySegments                // **: none or more
	captureSegment             // {name}: one, and its text is kept
)

// parsePathPattern reads a pattern such as /v1/*/{tenant}/**. Its literal
// segments may be written in any form that a path may. The error says what
// would be right.
func parsePathPattern(pattern string) (*pathPattern, error) {
	switch {
	case !strings.HasPrefix(pattern, "/"):
		return nil, fmt.Errorf("must begin with /, got %q", clip(pattern))
	case strings.ContainsAny(pattern, "?#"):
		return nil, fmt.Errorf("%q has a query or fragment, which no path has: use query for parameters, %%3F and %%23 for the characters", clip(pattern))
	}
	p := &pathPattern{}
	for segment := range strings.SplitSeq(pattern[1:], "/") {
		if err := p.add(segment); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add appends a segment as written.
func (p *pathPattern) add(written string) error {
	last := len(p.segments) - 1
	switch {
	case written == "*":
		p.segments = append(p.segments, patternSegment{kind: anySegment})
	case written == "**":
		if last < 0 || p.segments[last].kind != anySegments { // twice is as good as once
			p.segments = append(p.segments, patternSegment{kind: anySegments})
		}
	case strings.HasPrefix(written, "{") && strings.HasSuffix(written, "}"): // as in capturesIn
		return p.addCapture(written[1 : len(written)-1])
	case strings.Contains(normalized(written, true), ";"):
		return fmt.Errorf("parameters are cut off before paths are matched: leave out what begins with the semicolon in %q", clip(written))
	case strings.ContainsAny(written, "*{}"):
		return fmt.Errorf("*, ** and {name} stand for whole segments, not for a part of %q: write %%2A, %%7B and %%7D for the characters", clip(written))
	default:
		if NormalPath("/x/"+written) == "/" {
			return errors.New("must not have .. segments, which no path has left when it is matched: write the path that is meant")
		}
		if literal, _ := nextSegment(NormalPath(written)); literal != "" {
			p.segments = append(p.segments, patternSegment{literal: literal})
		}
	}
	return nil
}

func (p *pathPattern) addCapture(name string) error {
	switch {
	case !ValidName(name):
		return fmt.Errorf("the name in {%s} %s", clip(name), NameRule)
	case slices.Contains(p.names, name):
		return fmt.Errorf("{%s} is there twice: give the second another name, or write *", name)
	case len(p.names) == maxCaptures:
		return fmt.Errorf("must have at most %d {name} segments: write * for those that no key uses", maxCaptures)
	}
	p.segments = append(p.segments, patternSegment{kind: captureSegment, capture: len(p.names)})
	p.names = append(p.names, name)
	return nil
}

// capturesIn are the names in a pattern that has a fault, so that what refers
// to them can be judged.
func capturesIn(pattern string) []string {
	var names []string
	for segment := range strings.SplitSeq(pattern, "/") {
		if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
			names = append(names, segment[1:len(segment)-1])
		}
	}
	return names
}

// fixed is the only segment, or "" for none, that a path matched by p can have
// at position i. ok is false if there can be several. A nil p matches any path.
func (p *pathPattern) fixed(i int) (segment string, ok bool) {
	if p == nil || slices.ContainsFunc(p.segments[:min(i+1, len(p.segments))], func(s patternSegment) bool { return s.kind == anySegments }) {
		return "", false
	}
	if i >= len(p.segments) {
		return "", true
	}
	return p.segments[i].literal, p.segments[i].kind == literalSegment
}

// literal reports whether p is one path and no more.
func (p *pathPattern) literal() bool {
	return !slices.ContainsFunc(p.segments, func(s patternSegment) bool { return s.kind != literalSegment })
}

// match reports whether p matches path, which is in normal form, and keeps
// the captures. Where ** could stand for more or fewer segments it is as few
// as possible. The work is at most the segments of p times those of path: to
// give the last ** one more segment is all that ever has to be tried again.
func (p *pathPattern) match(path string, kept *captures) bool {
	i, again := 0, -1 // again: the segment after the last **
	var retry string  // where it was tried to match
	for rest := path; ; {
		segment, after := nextSegment(rest)
		switch {
		case i < len(p.segments) && p.segments[i].kind == anySegments:
			if i++; i == len(p.segments) {
				return true
			}
			again, retry = i, rest
		case segment != "" && i < len(p.segments) && p.segments[i].take(segment, kept):
			i, rest = i+1, after
		case segment == "" && i == len(p.segments):
			return true
		case segment == "" || again < 0:
			return false
		default:
			_, retry = nextSegment(retry)
			i, rest = again, retry
		}
	}
}

// take reports whether s, which stands for one segment, stands for segment.
func (s *patternSegment) take(segment string, kept *captures) bool {
	switch s.kind {
	case captureSegment:
		kept[s.capture] = segment
		return true
	case literalSegment:
		return s.literal == segment
	default:
		return true
	}
}
