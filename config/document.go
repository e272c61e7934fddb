package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/murmurate/murmurate/policy"
)

// document is a configuration file beside the schema, with the policies of
// other files: what it sets, where, and what is wrong with its form.
type document struct {
	file   string
	roots  map[string]string // the other files, by the path of the policy that each is
	values map[string]any    // nested; only what the schema knows and could be read
	lines  map[string]int    // of every path in its file
	// written holds the paths of settings in values.
	written map[string]bool
	faults  []Fault
	// unsound holds the paths that have a fault, or were likely meant by one
	// and are not written.
	unsound map[string]bool
	// meant holds the paths that a fault elsewhere was likely meant to set.
	meant []string
	// broken: file is no YAML, and nothing is known of its settings.
	broken bool
}

// readDocument reads the text of a file; name is what faults call it.
func readDocument(name string, data []byte) *document {
	d := &document{
		file: name, roots: make(map[string]string), values: make(map[string]any), lines: make(map[string]int),
		written: make(map[string]bool), unsound: make(map[string]bool),
	}
	if n := d.parse(data, ""); n != nil {
		if values, ok := d.read(n, root, "").(map[string]any); ok {
			d.values = values
		}
	}
	d.settle()
	return d
}

// parse is the content of the file whose content belongs at path, nil if it
// has none or is no YAML.
func (d *document) parse(data []byte, path string) *yaml.Node {
	if line, detail := notText(data); line > 0 {
		d.breaks(line, path, detail)
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		d.syntax(err, path)
		return nil
	}
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		d.syntax(err, path)
	default:
		d.fault(second.Line, path, "a second document begins here, but a file is one document")
	}
	return first.Content[0]
}

// settle concludes from what has been read which settings were meant by
// others and are not there.
func (d *document) settle() {
	for _, path := range d.meant {
		if !d.written[path] {
			d.unsound[path] = true
		}
	}
}

// place is the file that path is in, and its path there.
func (d *document) place(path string) (file, within string) {
	for at := path; at != ""; at = parent(at) {
		if file, ok := d.roots[at]; ok {
			return file, strings.TrimPrefix(path[len(at):], ".")
		}
	}
	return d.file, path
}

// fault reports what is wrong with the value at path.
func (d *document) fault(line int, path, format string, args ...any) {
	d.unsound[path] = true
	d.faultBeside(line, path, format, args...)
}

// faultBeside reports what leaves the value at path sound.
func (d *document) faultBeside(line int, path, format string, args ...any) {
	file, within := d.place(path)
	d.faults = append(d.faults, Fault{File: file, Line: line, Path: within, Detail: fmt.Sprintf(format, args...)})
}

// breaks is the fault of a file of whose settings nothing is known.
func (d *document) breaks(line int, path, detail string) {
	d.broken = d.broken || path == ""
	d.fault(line, path, "%s", detail)
}

var (
	yamlError = regexp.MustCompile(`^(?:yaml: )?(?:line ([0-9]+): )?(.*)$`)
	// The library counts the lines of its parser's errors from 0, and leaves
	// out the line when it is the first.
	countsFrom0 = regexp.MustCompile(`^did not find expected (node content|key|',' or '[]}]'|'-' indicator|<document start>)|` +
		`^found (undefined tag handle|duplicate %(YAML|TAG) directive|incompatible YAML document)`)
	onLine1 = regexp.MustCompile(`^(mapping values|block|found|could not find|did not find) `)
)

// syntax is the fault of a file that is no YAML.
func (d *document) syntax(err error, path string) {
	line, detail := 0, err.Error()
	if parts := yamlError.FindStringSubmatch(detail); parts != nil {
		line, _ = strconv.Atoi(parts[1]) // empty is 0, the whole file
		detail = parts[2]
	}
	if countsFrom0.MatchString(detail) || line == 0 && onLine1.MatchString(detail) {
		line++
	}
	if strings.Contains(detail, "cannot start any token") {
		detail += " (YAML is indented with spaces, not tabs; quote a value that begins with a special character)"
	}
	if strings.HasSuffix(detail, "',' or '}'") {
		detail += " (quote a value that has braces in it)"
	}
	d.breaks(line, path, "is no YAML: "+detail)
}

// read turns a node into a value of the schema: a map, a slice or a scalar.
// Nil stands for nothing: null, or a fault.
func (d *document) read(n *yaml.Node, s *schema, path string) any {
	switch {
	case n.Kind == yaml.AliasNode:
		d.fault(n.Line, path, "aliases (*name) are not supported: write the value out")
		return nil
	case n.Style&yaml.TaggedStyle != 0:
		d.fault(n.Line, path, "tags (%s) are not supported: leave it out", n.Tag)
		return nil
	case n.ShortTag() == "!!null":
		return nil
	}
	switch {
	case s.short != "" && n.Kind == yaml.ScalarNode:
		if value := d.readScalar(n, s.fields[s.short], join(path, s.short)); value != nil {
			return map[string]any{s.short: value}
		}
		return nil
	case s.kind == group:
		return d.readGroup(n, s, path)
	case s.kind == list:
		return d.readList(n, s, path)
	default:
		return d.readScalar(n, s, path)
	}
}

func (d *document) readScalar(n *yaml.Node, s *schema, path string) any {
	if n.Kind != yaml.ScalarNode {
		d.fault(n.Line, path, "must be one value, got %s", what(n))
		return nil
	}
	value, err := s.parse(n.Value)
	if err != nil {
		d.fault(n.Line, path, "%v", err)
		return nil
	}
	return value
}

func (d *document) readGroup(n *yaml.Node, s *schema, path string) any {
	if n.Kind != yaml.MappingNode {
		d.fault(n.Line, path, "must be settings by name (%s: ...), got %s", s.names[0], what(n))
		return nil
	}
	values := make(map[string]any)
	first := make(map[string]int) // line of each name
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := key.Value
		at := join(path, printable(name))
		field, known := s.fields[name]
		switch {
		case key.Kind != yaml.ScalarNode:
			d.faultBeside(key.Line, path, "a setting's name must be plain text, got %s", what(key))
			d.mean(path, s.names...)
			continue
		case name == "<<":
			d.faultBeside(key.Line, path, "merging (<<) is not supported: write the settings out")
			d.mean(path, s.names...)
			continue
		case !known:
			d.unknown(key.Line, path, name, s.names)
			continue
		case first[name] > 0:
			d.faultBeside(key.Line, at, "is set already on line %d", first[name]) // the first value is judged
			continue
		}
		first[name] = key.Line
		d.lines[at] = key.Line
		if v := d.read(value, field, at); v != nil {
			values[name] = v
			d.written[at] = true
		}
	}
	return values
}

// mean notes that settings of the group at path were likely meant to be set.
func (d *document) mean(path string, names ...string) {
	for _, name := range names {
		d.meant = append(d.meant, join(path, name))
	}
}

// unknown is the fault of a name that the group at path does not have.
func (d *document) unknown(line int, path, name string, names []string) {
	at := join(path, printable(name))
	d.mean(path, name) // which may be a setting's whole path, with dots
	if near := policy.Nearest(name, names); near != "" {
		d.faultBeside(line, at, "unknown setting%s", didYouMean(name, names))
		d.mean(path, near)
		return
	}
	d.faultBeside(line, at, "unknown setting; the settings here are %s", strings.Join(names, ", "))
}

func (d *document) readList(n *yaml.Node, s *schema, path string) any {
	if n.Kind != yaml.SequenceNode {
		d.fault(n.Line, path, "must be a list (- ... on a line of its own, or [a, b]), got %s", what(n))
		return nil
	}
	elements := make([]any, 0, len(n.Content))
	for i, e := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.lines[at] = e.Line
		v := d.read(e, s.elem, at)
		if v == nil && !d.unsound[at] {
			d.fault(e.Line, at, "is empty: remove it, or give it a value")
		}
		if v == nil && s.elem.kind == group {
			v = map[string]any{} // so that the elements after it keep their index
		}
		if v != nil {
			elements = append(elements, v)
		}
	}
	return elements
}

// what names a node in a message.
func what(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "settings by name"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	default:
		return strconv.Quote(printable(n.Value))
	}
}

// join is the path of name in the group at path.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// printable keeps what somebody wrote to one line of bearable length.
func printable(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}
