package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Match selects requests: all of it must hold. The zero value selects every
// request.
type Match struct {
	// Host is a host, without port and whatever its case, or *.example.com
	// for all below example.com. Empty: any.
	Host string `json:"host,omitempty" yaml:"host,omitempty"`
	// Path is a pattern of the path's normal form ([NormalPath]): segments
	// are literal, * for any one, ** for none or more, or {name} for any one
	// that a key can use. A path with parameters (/a;b) may also fit as it is
	// to servers that know none. Empty: any.
	Path string `json:"path,omitempty" yaml:"path,omitempty"`
	// Method lists methods, in upper case. Empty: any.
	Method []string `json:"method,omitempty" yaml:"method,omitempty"`
	// Header, Query and Attribute are fields that must be there. Of several
	// values of one header or parameter, any will do.
	Header    []Field `json:"header,omitempty" yaml:"header,omitempty"`
	Query     []Field `json:"query,omitempty" yaml:"query,omitempty"`
	Attribute []Field `json:"attribute,omitempty" yaml:"attribute,omitempty"`
}

// Field is a named value that a request must have.
type Field struct {
	// Name is that of a header field, whose case makes no difference, of a
	// parameter or of an attribute.
	Name string `json:"name,omitempty" yaml:"name,omitempty"`
	// Value is the value to have, exactly. Empty: any that is not empty.
	Value string `json:"value,omitempty" yaml:"value,omitempty"`
}

// matcher is a Match made ready.
type matcher struct {
	methods []string
	host    *hostPattern // nil: any
	path    *pathPattern // nil: any
	fields  []fieldMatcher
	strict  bool // of several values of a field, or readings of the path, all must do
	// What a request is told that does not match, see fails.
	notMethod, notHost, notPath string
}

type fieldMatcher struct {
	source        source
	value         string
	absent, other string // what a request is told
}

// faultFunc takes a fault in the field at a path.
type faultFunc func(field, format string, args ...any)

// under is fault for the fields below path. No field is path itself.
func (fault faultFunc) under(path string) faultFunc {
	return func(field, format string, args ...any) {
		if field != "" {
			field = "." + field
		}
		fault(path+field, format, args...)
	}
}

// compile makes m ready. After a fault the matcher is not usable.
func (m *Match) compile(fault faultFunc) *matcher {
	c := &matcher{
		methods:   slices.Clone(m.Method),
		notMethod: "method: is not " + strings.Join(m.Method, " or "),
		notHost:   "host: is not " + m.Host,
		notPath:   "path: is not " + m.Path,
	}
	for i, method := range m.Method {
		checkMethod(method, m.Method[:i], indexed("method", i), fault)
	}
	if m.Host != "" {
		host, err := parseHostPattern(m.Host)
		if err != nil {
			fault("host", "%v", err)
		}
		c.host = &host
	}
	if m.Path != "" {
		var err error
		if c.path, err = parsePathPattern(m.Path); err != nil {
			fault("path", "%v", err)
			c.path = &pathPattern{names: capturesIn(m.Path)}
		}
	}
	c.addFields("header", KeyHeader, m.Header, fault)
	c.addFields("query", KeyQuery, m.Query, fault)
	c.addFields("attribute", KeyAttr, m.Attribute, fault)
	return c
}

func checkMethod(method string, before []string, field string, fault faultFunc) {
	switch {
	case !isToken(method):
		fault(field, "must be a method such as GET, got %q", clip(method))
	case method != strings.ToUpper(method):
		fault(field, "methods are compared exactly, in upper case: write %q, not %q", clip(strings.ToUpper(method)), clip(method))
	case slices.Contains(before, method):
		fault(field, "%q is there already", clip(method))
	}
}

func (c *matcher) addFields(list string, kind KeyKind, fields []Field, fault faultFunc) {
	for i, f := range fields {
		s, err := namedSource(kind, f.Name)
		if err != nil {
			fault(fmt.Sprintf("%s[%d].name", list, i), "%v", err)
		}
		c.fields = append(c.fields, fieldMatcher{
			source: s, value: f.Value,
			absent: list + ": there is no " + f.Name,
			other:  list + ": " + f.Name + " has another value",
		})
	}
}

// captured are the names of the path's captures.
func (c *matcher) captured() []string {
	if c.path == nil {
		return nil
	}
	return c.path.names
}

// fails says why v does not match, or is empty. It repeats nothing of the
// request.
func (c *matcher) fails(v *view) string {
	switch {
	case len(c.methods) > 0 && !slices.Contains(c.methods, v.method):
		return c.notMethod
	case c.host != nil && !c.host.match(v.host):
		return c.notHost
	case c.path != nil && !c.matchesPath(v):
		return c.notPath
	}
	for i := range c.fields {
		if why := c.fields[i].fails(v, c.strict); why != "" {
			return why
		}
	}
	return ""
}

// matchesPath reports whether the path of v fits in either reading. Strict: in
// both.
func (c *matcher) matchesPath(v *view) bool {
	fits := c.path.match(v.path, &v.captures)
	if v.whole == "" || fits != c.strict {
		return fits
	}
	return c.path.match(v.whole, &v.captures)
}

// fails says why v does not have the field, or is empty. Strict: of several
// values all must be as they are to be, and not just any.
func (f *fieldMatcher) fails(v *view, strict bool) string {
	why := f.refuses(v.value(&f.source))
	for _, value := range v.repeats(&f.source) {
		if strict == (why != "") {
			return why // another value cannot mend it, or need not
		}
		why = f.refuses(f.source.clean(value))
	}
	return why
}

// refuses says why a value is not one to have, or is empty.
func (f *fieldMatcher) refuses(value string) string {
	switch {
	case value == "":
		return f.absent
	case f.value != "" && f.value != value:
		return f.other
	}
	return ""
}
