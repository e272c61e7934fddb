package config

import (
	"fmt"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
)

const policiesDirPath = "policies_dir"

// policiesDir is where more policies are, or empty: what the file says, or
// the last of set. A relative path begins at the directory of the file.
func (d *document) policiesDir(set []assignment) string {
	dir, _ := d.values[policiesDirPath].(string)
	for _, a := range set {
		if a.path == policiesDirPath {
			dir, _ = a.value.(string)
		}
	}
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(filepath.Dir(d.file), dir)
}

// readPoliciesDir puts the policies in the files of dir behind those that are
// there. The error is about dir itself.
func (d *document) readPoliciesDir(dir string, f *files) error {
	names, err := f.list(dir)
	if err != nil {
		return fmt.Errorf("the directory %s %w; it may be empty, but it must be there", dir, err)
	}
	for _, name := range names {
		file := filepath.Join(dir, name)
		data, err := f.read(file)
		d.readPolicy(file, data, err)
	}
	return nil
}

// readPolicy reads a file that is one policy, if reading it had no error. A
// policy with faults takes a place all the same, so that each has its own.
func (d *document) readPolicy(file string, data []byte, err error) {
	list, _ := d.values["policies"].([]any)
	path := fmt.Sprintf("policies[%d]", len(list))
	d.roots[path] = file
	values := map[string]any{}
	defer func() {
		d.values["policies"] = append(slices.Clip(list), values)
		d.settle()
	}()
	if err != nil {
		d.fault(0, path, "%v", err)
		return
	}
	n := d.parse(data, path)
	switch {
	case n == nil && d.unsound[path]:
	case n == nil || n.ShortTag() == "!!null":
		d.fault(0, path, "is empty: put a policy there, or remove the file")
	case n.Kind == yaml.SequenceNode:
		d.fault(n.Line, path, "is a list, but a file in policies_dir is one policy: put each into a file of its own")
	case nested(n):
		d.fault(n.Line, path, "a file in policies_dir is one policy: write its settings (name: ...) without policies: around them")
	default:
		d.lines[path] = n.Line
		if v, ok := d.read(n, root.fields["policies"].elem, path).(map[string]any); ok {
			values = v
		}
	}
}

// nested reports whether n holds policies as a configuration file does.
func nested(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && slices.ContainsFunc(n.Content, func(c *yaml.Node) bool {
		return c.Kind == yaml.ScalarNode && c.Value == "policies"
	})
}
