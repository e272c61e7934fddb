package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/policy"
)

//go:generate go test -run ^TestGenerated -update .

var update = flag.Bool("update", false, "write the files that are generated from this package")

// generated compares a file with what it is generated from.
func generated(t *testing.T, file string, text []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	found, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(found, text) {
		t.Errorf("%s is not what the settings make of it (%v): run go generate ./config", file, err)
	}
}

func TestGeneratedJSONSchema(t *testing.T) {
	t.Parallel()
	text, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	generated(t, "../config.schema.json", text)
}

// compiled is the schema, ready to judge files. That it is a schema of its
// draft is judged too.
func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.schema.json", document); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("config.schema.json")
}

// judge is what an editor would say of a file.
func judge(t *testing.T, s *jsonschema.Schema, file []byte) error {
	t.Helper()
	var content any
	if err := yaml.Unmarshal(file, &content); err != nil {
		return err
	}
	encoded, err := json.Marshal(content)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

func TestSchemaAcceptsWhatLoads(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	files := map[string][]byte{
		"empty groups":    []byte("http:\ncluster: {}\npolicies:\n"),
		"short forms":     []byte("policies: [{name: a, cost: 2k, limits: [{algorithm: fixed_window, count: 5k, period: 1h30m}]}]\n"),
		"a key of digits": []byte("policies: [{name: a, limits: [{algorithm: sliding_log, rate: 5/s}], overrides: [{key: 12345, blocked: true}]}]\n"),
	}
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v, %v", paths, err)
	}
	for _, path := range append(paths, "../config.example.yaml") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = text
	}
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%v, %v", pages, err)
	}
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range yamlBlock.FindAllSubmatch(page, -1) {
			if i > 0 && filepath.Base(path) == "gateways.md" {
				break // the others are those of gateways
			}
			files[fmt.Sprintf("%s, example %d", path, i+1)] = block[1]
		}
	}
	for name, text := range files {
		if _, err := load(readDocument(name, text), Source{}, newFiles()); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
		if err := judge(t, s, text); err != nil {
			t.Errorf("%s: %v in\n%s", name, err, text)
		}
	}
}

// A file with one fault that shows without the rest of the file: Load refuses
// it, and so does the schema.
func TestSchemaRefusesWhatDoesNotLoad(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	onePolicy := func(rest string) string {
		return "policies: [{name: a, limits: [{algorithm: token_bucket, rate: 5/s}], " + rest + "}]\n"
	}
	limit := func(rest string) string { return "policies: [{name: a, limits: [{" + rest + "}]}]\n" }
	for _, file := range []string{
		// names
		"http: {listn: ':80'}\n",
		"Http: {listen: ':80'}\n",
		"grpc: {listen: ':80'}\n",
		onePolicy("shdow: true"),
		onePolicy("match: {pth: /v1}"),
		onePolicy("match: {header: [{nme: A}]}"),
		limit("algorithm: token_bucket, rate: 5/s, brust: 5"),
		// types
		"http: on\n",
		"http: [listen]\n",
		"[]\n",
		"cluster: {join: n2}\n",
		"cluster: {insecure: yes please}\n",
		"http: {headers: [~]}\n",
		"policies: {api: {}}\n",
		"policies: [api]\n",
		onePolicy("key: ip"),
		onePolicy("cost: [1]"),
		onePolicy("cost: much"),
		onePolicy("cost: {default: much}"),
		// numbers and durations
		"cluster: {deadline: 50}\n",
		"cluster: {deadline: '50'}\n",
		"cluster: {deadline: soon}\n",
		"limiter: {max_keys: 1.5}\n",
		"limiter: {max_keys: -1}\n",
		"limiter: {max_keys: 0}\n",
		"limiter: {max_keys: 2000000000}\n",
		"limiter: {max_keys: 5m}\n",
		"http: {ipv4_prefix: 33}\n",
		"http: {ipv6_prefix: 0}\n",
		onePolicy("deny_status: 302"),
		onePolicy("cost: 0"),
		onePolicy("cost: {by_method: [{method: POST, cost: 0}]}"),
		limit("algorithm: fixed_window, rate: 5/month, anchor: 32"),
		limit("algorithm: token_bucket, rate: 5/s, burst: many"),
		// choices
		"log: {level: verbose}\n",
		"log: {format: xml}\n",
		"http: {headers: [y]}\n",
		"http: {retry_after: ''}\n",
		"http: {client_ip_header: x-real-ip}\n",
		"cluster: {role: leader}\n",
		onePolicy("on_unreachable: dney"),
		limit("algorithm: token_bukcet, rate: 5/s"),
		limit("algorithm: fixed_window, rate: 5/s, align: middle"),
		// forms
		"node: {name: a b}\n",
		"http: {listen: 7380}\n",
		"http: {listen: nowhere}\n",
		"http: {listen: ''}\n",
		"cluster: {gossip: 'http://10.0.0.1'}\n",
		"cluster: {advertise: somewhere}\n",
		"http: {trusted_proxies: [everybody]}\n",
		"policies: [{name: a b, limits: [{algorithm: token_bucket, rate: 5/s}]}]\n",
		limit("algorithm: token_bucket, rate: 100"),
		limit("algorithm: token_bucket, rate: '100'"),
		limit("algorithm: token_bucket, rate: 100/m"),
		limit("algorithm: token_bucket, rate: 100/60"),
		limit("algorithm: token_bucket, rate: 100 / s"),
		limit("algorithm: token_bucket, count: 5, period: 60"),
		limit("algorithm: concurrency, count: 5, ttl: 30"),
		onePolicy("key: [header]"),
		onePolicy("key: ['header:']"),
		onePolicy("key: [X-Api-Key]"),
		onePolicy("key: ['ip |']"),
		onePolicy("key: ['ip:4']"),
		onePolicy("match: {path: v1}"),
		onePolicy("match: {path: '/v1?a=b'}"),
		onePolicy("match: {method: [get]}"),
		onePolicy("match: {host: 'http://example.com'}"),
		onePolicy("tiers: {by: plan, sets: [{name: pro, limits: [{name: a, algorithm: token_bucket, rate: 9/s}]}]}"),
		onePolicy("exempt: [{cidr: 10.0.0.1}]"),
		// what must be there
		"policies: [{limits: [{algorithm: token_bucket, rate: 5/s}]}]\n",
		"policies: [{name: a}]\n",
		"policies: [{name: a, limits: []}]\n",
		limit("rate: 5/s"),
		limit("algorithm: token_bucket"),
		limit("algorithm: token_bucket, count: 5"),
		limit("algorithm: concurrency, ttl: 5s"),
		onePolicy("match: {header: [{value: a}]}"),
		onePolicy("exempt: [{}]"),
		onePolicy("overrides: [{blocked: true}]"),
		onePolicy("tiers: {sets: [{name: pro, limits: [{name: a, algorithm: token_bucket, rate: 9/s}]}]}"),
	} {
		if _, err := load(readDocument("FILE", []byte(file)), Source{}, newFiles()); err == nil {
			t.Errorf("loads:\n%s", file)
		}
		if err := judge(t, s, []byte(file)); err == nil {
			t.Errorf("is valid:\n%s", file)
		} else if _, ok := errors.AsType[*jsonschema.ValidationError](err); !ok {
			t.Errorf("%v in\n%s", err, file)
		}
	}
}

// What config print shows is a valid file, hidden secrets and all.
func TestSchemaAcceptsWhatIsPrinted(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	rapid.Check(t, func(r *rapid.T) {
		file := anyFile(r)
		c, err := load(readDocument("FILE", file), Source{}, newFiles())
		if err != nil {
			r.Fatalf("%v in\n%s", err, file)
		}
		var printed bytes.Buffer
		if err := c.Print(&printed); err != nil {
			r.Fatal(err)
		}
		if err := judge(t, s, printed.Bytes()); err != nil {
			r.Fatalf("%v in\n%s", err, printed.Bytes())
		}
	})
}

func TestEverySettingIsDescribed(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	var walk func(s *schema)
	walk = func(s *schema) {
		for _, name := range s.names {
			field := s.fields[name]
			known[field.about] = true
			if text := fields[field.about].text; !strings.HasSuffix(text, ".") {
				t.Errorf("%s: the description is %q, no sentence", field.about, text)
			}
			if field.kind == list {
				field = field.elem
				if field.kind == group && elementNames[field.goType] == "" {
					t.Errorf("%s has no name in the schema", field.goType)
				}
			}
			if field.kind == group {
				walk(field)
			}
		}
	}
	walk(root)
	for name := range fields {
		if !known[name] {
			t.Errorf("%s is described and does not exist", name)
		}
	}
}

// The patterns accept exactly what is read, bounds aside.
func TestPatternsAreThoseOfTheReaders(t *testing.T) {
	t.Parallel()
	matches := func(pattern string) func(text string) bool {
		c := jsonschema.NewCompiler()
		if err := c.AddResource("pattern.json", map[string]any{"pattern": pattern}); err != nil {
			t.Fatal(err)
		}
		s := c.MustCompile("pattern.json")
		return func(text string) bool { return s.Validate(text) == nil }
	}
	for _, form := range []struct {
		pattern string
		parse   func(text string) error
		bound   string // begins the errors about bounds, if there are any
	}{
		{sizePattern, func(text string) error { _, err := policy.ParseSize(text); return err }, ""},
		{periodPattern, func(text string) error { _, err := policy.ParsePeriod(text); return err }, "must be "},
		{ratePattern, func(text string) error { _, err := policy.ParseRate(text); return err }, "the period must be "},
		{durationPattern, func(text string) error { _, err := parseDuration(text); return err }, ""},
	} {
		fits := matches(form.pattern)
		rapid.Check(t, func(r *rapid.T) {
			text := rapid.StringMatching(`(0|[0-9]{1,3})?[kMG]?/?(s|second|min|hour|day|month|d|m|[0-9]{1,2}(\.[0-9])?(ns|us|µs|ms|s|m|h|d)([0-9](s|m|d))?|[0-9])?`).Draw(r, "text")
			err := form.parse(text)
			bounded := err != nil && form.bound != "" && strings.Contains(err.Error(), form.bound) && !strings.Contains(err.Error(), "such as")
			if fits(text) != (err == nil || bounded) {
				r.Fatalf("%q: the pattern says %v, the reader %v", text, fits(text), err)
			}
		})
	}
}
