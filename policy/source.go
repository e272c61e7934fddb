package policy

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"
)

// source is a place in a request that has a value: what a part of a key is
// made of, a condition looks at, or a tier is chosen by.
type source struct {
	kind    KeyKind
	name    string // as it stands in keys: of a header in lower case
	lookup  string // of a header: its name in canonical form
	capture int    // of a path's segment: its index
}

// sourceForms are the ways to write a source, for messages.
const sourceForms = "ip, header:NAME, cookie:NAME, query:NAME, path, path:NAME, method, host, attr:NAME or global"

var (
	namedKinds = []string{string(KeyHeader), string(KeyCookie), string(KeyQuery), string(KeyPath), string(KeyAttr)}
	bareKinds  = []string{string(KeyIP), string(KeyPath), string(KeyMethod), string(KeyHost), string(KeyGlobal)}
)

// parseSource reads a source as written. captured are the names of the
// policy's path pattern. The error says what would be right.
func parseSource(written string, captured []string) (source, error) {
	kind, name, named := strings.Cut(written, ":")
	s := source{kind: KeyKind(kind), name: name}
	all := slices.Concat(bareKinds, namedKinds)
	switch {
	case written == "":
		return s, fmt.Errorf("must be %s", sourceForms)
	case !slices.Contains(all, kind):
		return s, fmt.Errorf("must be %s, got %q%s", sourceForms, clip(written), didYouMean(kind, all))
	case named && !slices.Contains(namedKinds, kind):
		return s, fmt.Errorf("%s has no name: write %[1]s alone, not %q", kind, clip(written))
	case !named && !slices.Contains(bareKinds, kind):
		return s, fmt.Errorf("%s needs a name: write %[1]s:NAME", kind)
	case named && s.kind != KeyPath:
		return namedSource(s.kind, name)
	case named:
		if s.capture = slices.Index(captured, name); s.capture < 0 {
			return s, fmt.Errorf("path:%s needs a segment {%[1]s} in match.path%s", clip(name), didYouMean(name, captured))
		}
	}
	return s, nil
}

// ownMembers are the attributes of a check that have a meaning of their own.
var ownMembers = []string{"ip", "method", "host", "path", "query", "headers", "cookies"}

// namedSource is the source of a kind that has names, other than KeyPath.
func namedSource(kind KeyKind, name string) (source, error) {
	s := source{kind: kind, name: name}
	switch {
	case kind == KeyHeader && strings.EqualFold(name, "host"):
		return s, errors.New("the Host field is no header to servers: use host")
	case (kind == KeyHeader || kind == KeyCookie) && !isToken(name):
		return s, fmt.Errorf("%s needs the name of one, such as X-Api-Key or session, got %q", kind, clip(name))
	case kind == KeyAttr && slices.Contains(ownMembers, name):
		return s, fmt.Errorf("%q is what a request says of itself, and no attribute: write ip, method, host, path, query:NAME, header:NAME or cookie:NAME", name)
	case name == "" || strings.ContainsAny(name, "| \t\r\n"):
		return s, fmt.Errorf("%s needs a name without spaces and |, got %q", kind, clip(name))
	}
	if kind == KeyHeader {
		s.name, s.lookup = strings.ToLower(name), textproto.CanonicalMIMEHeaderKey(name)
	}
	return s, nil
}

// String is the source as written, with a header's name in canonical form.
func (s *source) String() string {
	switch {
	case s.lookup != "":
		return string(s.kind) + ":" + s.lookup
	case s.name != "":
		return string(s.kind) + ":" + s.name
	}
	return string(s.kind)
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2), as methods
// and the names of header fields and cookies are.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}
