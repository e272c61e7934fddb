// Package presets plays the rules of real providers, as the files beside it
// express them, on virtual time.
package presets

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/config"
	"github.com/murmurate/murmurate/internal/leak"
	"github.com/murmurate/murmurate/internal/race"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

func TestMain(m *testing.M) { leak.Main(m) }

// Every preset is a configuration as it stands, and warns of nothing but what
// its comments explain.
func TestPresetsAreValid(t *testing.T) {
	t.Parallel()
	explained := map[string][]string{"login-protection.yaml": {"policies[2].key"}}
	names, err := filepath.Glob("*.yaml")
	if err != nil || len(names) < 8 {
		t.Fatalf("only %q, %v", names, err)
	}
	for _, name := range names {
		c, err := config.Load(config.Source{File: name})
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		var paths []string
		for _, warning := range c.Warnings() {
			paths = append(paths, warning.Path)
		}
		if !slices.Equal(paths, explained[name]) {
			t.Errorf("%s: %v", name, c.Warnings())
		}
		for _, p := range c.Policies {
			if provider, _, _ := strings.Cut(strings.TrimSuffix(name, ".yaml"), "-"); !strings.HasPrefix(p.Name, provider) {
				t.Errorf("%s: %s would clash with other presets", name, p.Name)
			}
		}
	}
}

// All presets together are one configuration.
func TestPresetsHaveDifferentNames(t *testing.T) {
	t.Parallel()
	var all []policy.Policy
	names, _ := filepath.Glob("*.yaml")
	for _, name := range names {
		all = append(all, load(t, name)...)
	}
	if _, err := policy.NewSet(all...); err != nil {
		t.Error(err)
	}
}

// load reads a preset for a node that keeps nothing: its quotas stay in memory.
func load(t *testing.T, name string) []policy.Policy {
	t.Helper()
	return read(t, name, func(c *config.Config) {
		for i := range c.Policies {
			c.Policies[i].Durable = new(bool)
		}
	}).Policies()
}

// read reads a preset, and has change change it.
func read(t *testing.T, name string, change func(*config.Config)) *policy.Set {
	t.Helper()
	c, err := config.Load(config.Source{File: name})
	if err != nil {
		t.Fatal(err)
	}
	change(c)
	set, err := c.PolicySet()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// play runs test in a bubble with a preset on a cluster of nodes. Its calls go
// to one node after the other.
func play(t *testing.T, preset string, nodes int, test func(t *testing.T, p *player)) {
	t.Helper()
	if race.Enabled {
		t.Skip("the race detector has been seen to crash in bubbles with many timers")
	}
	t.Parallel()
	policies := load(t, preset)
	if nodes == 1 { // which is idle between calls, so that hours cost nothing
		testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) { test(t, newPlayer(t, n)) }, policies...)
		return
	}
	testcluster.Run(t, nodes, func(t *testing.T, c *testcluster.Cluster) {
		var members []*murmurate.Node
		for _, n := range c.Nodes() {
			members = append(members, n.Node)
		}
		test(t, newPlayer(t, members...))
	}, policies...)
}
