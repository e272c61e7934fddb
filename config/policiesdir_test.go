package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// tree writes files, by their paths, into a directory of its own. A text that
// begins with -> is a symbolic link.
func tree(t *testing.T, texts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, isLink := strings.CutPrefix(text, "->"); isLink {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// policyNames are those of c in their order.
func policyNames(c *Config) []string {
	var names []string
	for i := range c.Policies {
		names = append(names, c.Policies[i].Name)
	}
	return names
}

func TestPoliciesDir(t *testing.T) {
	t.Parallel()
	main := "policies: [{name: main, limits: [{algorithm: token_bucket, rate: 5/s}]}]\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		env   string // MURMURATE_POLICIES_DIR, below the directory
		want  []string
	}{
		{"in the order of names, after the others", map[string]string{
			"c.yaml": "policies_dir: p\n" + main, "p/20.yml": policyOf("b", "1"), "p/10.yaml": policyOf("c", "1"),
			"p/30.json": "{\n\t\"name\": \"a\",\n\t\"limits\": [{\"algorithm\": \"token_bucket\", \"rate\": \"5/s\"}]\n}\n",
		}, "", []string{"main", "c", "b", "a"}},
		{"alone", map[string]string{"c.yaml": "policies_dir: ./p/\n", "p/a.yaml": policyOf("a", "1")}, "", []string{"a"}},
		{"empty", map[string]string{"c.yaml": "policies_dir: p\n" + main, "p/.keep": ""}, "", []string{"main"}},
		{"empty, and no policies", map[string]string{"c.yaml": "policies_dir: p\n", "p/.keep": ""}, "", []string{"default"}},
		{"as Kubernetes mounts it", map[string]string{
			"c.yaml": "policies_dir: p\n", "p/..2026_11_30/a.yaml": policyOf("a", "1"), "p/..data": "->..2026_11_30", "p/a.yaml": "->..data/a.yaml",
		}, "", []string{"a"}},
		{"what is no policy file", map[string]string{
			"c.yaml": "policies_dir: p\n", "p/a.YAML": policyOf("a", "1"), "p/README.md": "- [", "p/a.yaml~": "- [", "p/.b.yaml": "- [", "p/sub/c.yaml": "- [",
		}, "", []string{"a"}},
		{"of the environment", map[string]string{"c.yaml": "policies_dir: nowhere\n" + main, "p/a.yaml": policyOf("a", "1")}, "p", []string{"main", "a"}},
	} {
		dir := tree(t, c.files)
		s := Source{File: filepath.Join(dir, "c.yaml")}
		if c.env != "" {
			s.Env = []string{"MURMURATE_POLICIES_DIR=" + filepath.Join(dir, c.env)}
		}
		got, err := Load(s)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if names := policyNames(got); !slices.Equal(names, c.want) {
			t.Errorf("%s: %q, want %q", c.name, names, c.want)
		}
	}
}

// A configuration can consist of policies in a directory, and nothing else.
func TestPoliciesDirWithoutFile(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.yaml": policyOf("a", "1")})
	w := NewWatch(Source{Env: []string{"MURMURATE_POLICIES_DIR=" + dir}})
	if c, err := w.Load(); err != nil || !slices.Equal(policyNames(c), []string{"a"}) || !w.HasFiles() {
		t.Errorf("%v, %+v, has files %t", err, c, w.HasFiles())
	}
}

// The faults of all files are reported at once, each with its file, and
// paths are those within it.
func TestFaultsOfPoliciesDir(t *testing.T) {
	t.Parallel()
	const unread = "cannot be read: "
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string // DIR is where c.yaml is
	}{
		{"of every kind", map[string]string{
			"c.yaml":     "http: {listen: nowhere}\npolicies_dir: p\npolicies:\n- name: api\n  limits: [{algorithm: token_bucket, rate: 5/s}]\n",
			"p/a.yaml":   "name: a\nlimits:\n- algorithm: token_bucket\n  rate: 5/5\nshadwo: true\n",
			"p/b.yaml":   "# to come\n",
			"p/c.yaml":   "- name: c\n",
			"p/d.json":   `{"name": "d"`,
			"p/e.yaml":   "policies:\n- name: e\n",
			"p/f.yaml":   "---\n~\n",
			"p/g.yaml":   "name: g\nlimits: [{algorithm: token_bucket, rate: 5/s}]\n---\nname: h\n",
			"p/i.yaml":   "->nowhere",
			"p/j.yaml/x": "",
			"p/k.yaml":   "name: k\n\nlimits: []\ntiers: {by: ip}\n",
			"p/l.yaml":   "just text",
			"p/m.yaml":   "name: k\u0000",
		}, []string{
			`DIR/c.yaml:1: http.listen: must be HOST:PORT such as 127.0.0.1:7380 or [::1]:7380, got "nowhere"`,
			"DIR/p/a.yaml:4: limits[0].rate: the period needs a unit: write 5s, 5m or 5h",
			`DIR/p/a.yaml:5: shadwo: unknown setting (did you mean "shadow"?)`,
			"DIR/p/b.yaml: is empty: put a policy there, or remove the file",
			"DIR/p/c.yaml:1: is a list, but a file in policies_dir is one policy: put each into a file of its own",
			"DIR/p/d.json:2: is no YAML: did not find expected ',' or '}' (quote a value that has braces in it)",
			"DIR/p/e.yaml:1: a file in policies_dir is one policy: write its settings (name: ...) without policies: around them",
			"DIR/p/f.yaml: is empty: put a policy there, or remove the file",
			"DIR/p/g.yaml:3: a second document begins here, but a file is one document",
			"DIR/p/i.yaml: " + unread + "no such file or directory",
			"DIR/p/j.yaml: " + unread + "it is no regular file",
			"DIR/p/k.yaml:3: limits: a policy needs at least one limit",
			`DIR/p/k.yaml:4: tiers.by: must be header:NAME or attr:NAME, or several with | between them, got "ip"`,
			"DIR/p/k.yaml:4: tiers.sets: is required beside by: at least one tier with a name and limits",
			`DIR/p/l.yaml:1: must be settings by name (name: ...), got "just text"`,
			"DIR/p/m.yaml:1: is no text in UTF-8 (byte 0x00): save it in that encoding",
		}},
		{"the same name twice", map[string]string{
			"c.yaml":   "policies_dir: p\n\npolicies:\n- {name: api, limits: [{algorithm: token_bucket, rate: 5/s}]}\n",
			"p/a.yaml": policyOf("A", "1"), "p/b.yaml": "# b\n" + policyOf("api", "1"), "p/c.yaml": policyOf("A", "2"),
		}, []string{
			`DIR/p/b.yaml:2: name: "api" is already the name of another policy (DIR/c.yaml:4)`,
			`DIR/p/c.yaml:1: name: "A" is already the name of another policy (DIR/p/a.yaml:1)`,
		}},
		{"without a name", map[string]string{"c.yaml": "policies_dir: p\n", "p/a.yaml": "# nameless\nlimits: [{algorithm: token_bucket, rate: 5/s}]\n"}, []string{
			`DIR/p/a.yaml:2: name: must be a letter followed by at most 63 letters, digits, '_', '.' or '-', got ""`,
		}},
		{"beside policies that cannot be read", map[string]string{"c.yaml": "policies: x\npolicies_dir: p\n", "p/a.yaml": "name: a\nlimits: []\n"}, []string{
			`DIR/c.yaml:1: policies: must be a list (- ... on a line of its own, or [a, b]), got "x"`,
			"DIR/p/a.yaml:2: limits: a policy needs at least one limit",
		}},
		{"no directory", map[string]string{"c.yaml": "policies_dir: q\n"}, []string{
			"DIR/c.yaml:1: policies_dir: the directory DIR/q cannot be read: no such file or directory; it may be empty, but it must be there",
		}},
		{"a file", map[string]string{"c.yaml": "policies_dir: c.yaml\n"}, []string{
			"DIR/c.yaml:1: policies_dir: the directory DIR/c.yaml cannot be read: not a directory; it may be empty, but it must be there",
		}},
	} {
		dir := tree(t, c.files)
		_, err := Load(Source{File: filepath.Join(dir, "c.yaml")})
		if err == nil {
			t.Errorf("%s: no fault", c.name)
			continue
		}
		if got, want := strings.ReplaceAll(err.Error(), dir, "DIR"), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
	_, err := Load(Source{Env: []string{"MURMURATE_POLICIES_DIR=/no/such"}})
	const want = "MURMURATE_POLICIES_DIR: policies_dir: the directory /no/such cannot be read: no such file or directory; it may be empty, but it must be there"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// A fault as data has the file, the line and the path within it.
func TestFaultOfAPolicyFile(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"c.yaml": "policies_dir: p\n", "p/a.yaml": "name: a\nlimits:\n- {algorithm: token_bucket, rate: 0.5/s}\n"})
	_, err := Load(Source{File: filepath.Join(dir, "c.yaml")})
	faults, ok := errors.AsType[*Faults](err)
	if !ok || len(faults.List) != 1 {
		t.Fatal(err)
	}
	f := faults.List[0]
	if f.Detail = ""; f != (Fault{File: filepath.Join(dir, "p/a.yaml"), Line: 3, Path: "limits[0].rate"}) {
		t.Errorf("%+v", f)
	}
}

func TestWarningsOfPoliciesDir(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"c.yaml":   "policies_dir: p\npolicies:\n- name: z\n  key: [ip]\n  limits: [{algorithm: token_bucket, rate: 5/s}]\n",
		"p/a.yaml": policyOf("a", "5") + "key: [ip]\n",
	})
	c, err := Load(Source{File: filepath.Join(dir, "c.yaml")})
	if err != nil || len(c.Warnings()) != 2 {
		t.Fatalf("%v, %+v", err, c)
	}
	for i, want := range []string{"c.yaml:4: policies[0].key: ", "p/a.yaml:3: key: "} {
		if got := c.Warnings()[i].String(); !strings.HasPrefix(got, filepath.Join(dir, want)) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// What is printed holds all policies, and does not read them twice.
func TestPrintHoldsThePoliciesOfTheDirectory(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"c.yaml":   "policies_dir: p\npolicies: [{name: z, limits: [{algorithm: token_bucket, rate: 5/s}]}]\n",
		"p/a.yaml": policyOf("a", "5"),
	})
	want := mustLoad(t, Source{File: filepath.Join(dir, "c.yaml")})
	var printed bytes.Buffer
	if err := want.Print(&printed); err != nil {
		t.Fatal(err)
	}
	got := mustLoad(t, Source{File: write(t, "printed.yaml", printed.String())})
	if got.PoliciesDir, want.PoliciesDir = want.PoliciesDir, "p"; !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}
