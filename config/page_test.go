package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// pageHead begins docs/configuration.md.
var pageHead = strings.ReplaceAll(`# Settings

<!-- Written by "go generate ./config": change config/fields.go instead. -->

Every setting outside of policies; those have [a page of their own](policies.md).
['config.example.yaml'](../config.example.yaml) is a file with all of them.

The value of a setting is that of its flag, else of its environment variable,
else of the file, else its default. A variable has the elements of a list between
commas; a secret may also be in a file, whose name goes to 'VARIABLE_FILE'. A
duration has a unit ('50ms', '1.5s', '2m'), and a number may end in k, M or G
('10M'). When the file changes, or on SIGHUP, settings that say "live" change at
once, as policies do; the others change with a restart.

An editor with a YAML language server completes and checks a file whose first line
is '# yaml-language-server: $schema=config.schema.json', with the path of
['config.schema.json'](../config.schema.json). 'murmurate config schema' prints it.
`, "'", "`")

func TestGeneratedSettingsPage(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString(pageHead)
	values, group := defaults(), ""
	secured := Config{HTTP: HTTP{TLS: ServerTLS{Cert: "there"}}, Cluster: Cluster{TLS: PeerTLS{Cert: "there"}}}
	for _, s := range settings() {
		within := parent(s.path)
		if within != group {
			group = within
			fmt.Fprintf(&page, "\n## %s\n\n", cmp.Or(group, "At the top"))
			if group != "" {
				fmt.Fprintf(&page, "%s\n\n", fields[groupAt(group).about].text)
			}
			page.WriteString("| setting | says | type | default | changes | variable |\n|---|---|---|---|---|---|\n")
		}
		value, err := json.Marshal(values[s.path])
		if err != nil {
			t.Fatal(err)
		}
		changes, told := "restart", fields[s.about]
		if secured.live(&secured, s.path) {
			changes = "live"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | `%s` | %s | `%s` |\n",
			strings.TrimPrefix(s.path, within+"."), told.text, typeOf(s.schema, &told), value, changes, s.variable())
	}
	generated(t, "../docs/configuration.md", []byte(page.String()))
}

// groupAt is the group at a dotted path.
func groupAt(path string) *schema {
	at := root
	for name := range strings.SplitSeq(path, ".") {
		at = at.fields[name]
	}
	return at
}

// typeOf says in a few words what a setting holds.
func typeOf(s *schema, told *about) string {
	switch {
	case s.kind == list && s.secret:
		return "list of secrets"
	case s.kind == list && told.choices != nil:
		return "list of " + strings.Join(told.choices, ", ")
	case s.kind == list:
		return "list"
	case s.secret:
		return "secret"
	case told.choices != nil:
		return strings.Join(told.choices, ", ")
	case s.kind == number:
		return fmt.Sprintf("number, %d to %d", told.min, told.max)
	case s.kind == truth:
		return "true or false"
	case s.kind == duration:
		return "duration"
	}
	return "text"
}
