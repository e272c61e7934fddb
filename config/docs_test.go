package config

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// Every example of the page on policies can be pasted as it is.
func TestPolicyExamplesOfTheDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllSubmatch(page, -1)
	if len(blocks) < 8 {
		t.Errorf("only %d examples", len(blocks))
	}
	written := make(map[string]bool) // paths of settings, without indices
	for _, block := range blocks {
		d := readDocument("policies.md", block[1])
		c, err := load(d, Source{}, newFiles())
		if err != nil {
			t.Errorf("%v in\n%s", err, block[1])
			continue
		}
		if warnings := c.Warnings(); warnings != nil {
			t.Errorf("%v in\n%s", warnings, block[1])
		}
		for path := range d.written {
			written[listIndex.ReplaceAllString(path, "")] = true
		}
	}
	for _, path := range policyPaths(root.fields["policies"].elem, "policies") {
		if name := path[strings.LastIndexByte(path, '.')+1:]; !strings.Contains(string(page), "`"+name) {
			t.Errorf("%s is not explained", path)
		}
		if limits := strings.Index(path, ".limits."); limits > len("policies") || strings.HasPrefix(path, "policies.exempt.") {
			continue // are as those of a policy, and as match
		}
		if !written[path] {
			t.Errorf("%s has no example", path)
		}
	}
}

// The page on policies has the defaults and the bounds that there are.
func TestNumbersOfThePoliciesPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, told := range policyFields {
		if group, field, _ := strings.Cut(name, "."); told.absent != nil && (group == "Policy" || group == "LimitSpec") {
			row := regexp.MustCompile("(?m)^\\| \\[?`" + field + "`.* \\| " + fmt.Sprint(told.absent) + " \\| ")
			if !row.Match(page) {
				t.Errorf("the default of %s is not said to be %v", name, told.absent)
			}
		}
	}
	for _, bound := range []string{
		fmt.Sprintf("A policy has at most %d.", limiter.MaxCharges),
		fmt.Sprintf("A period is %d ms to %d days", limiter.MinPeriod.Milliseconds(), limiter.MaxPeriod/(24*time.Hour)),
		fmt.Sprintf("a count at most 10^%d,", len(strconv.Itoa(limiter.MaxCount))-1),
		fmt.Sprintf("at most %d,%03d.", limiter.MaxLogCount/1000, limiter.MaxLogCount%1000),
		fmt.Sprintf("longer than %d,%03d bytes", policy.MaxKeyBytes/1000, policy.MaxKeyBytes%1000),
	} {
		if !strings.Contains(string(page), bound) {
			t.Errorf("the page does not say %q", bound)
		}
	}
}

// The example of a file in policies_dir is one.
func TestPolicyFileOfTheDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile("(?s)> policies\\.d/(.*?) <<'END'\n(.*?)\nEND\n").FindSubmatch(page)
	if file == nil {
		t.Fatal("there is no example")
	}
	dir := tree(t, map[string]string{string(file[1]): string(file[2])})
	c, err := Load(Source{Env: []string{"MURMURATE_POLICIES_DIR=" + dir}})
	if err != nil || c.Warnings() != nil || len(c.Policies) != 1 || c.Policies[0].Name != "search" {
		t.Errorf("%v, %+v of %s", err, c, file[2])
	}
}

func TestExampleOfTheGatewaysPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/gateways.md")
	if err != nil {
		t.Fatal(err)
	}
	first := yamlBlock.FindSubmatch(page) // the others are those of gateways
	if first == nil {
		t.Fatal("there is no example")
	}
	c, err := load(readDocument("gateways.md", first[1]), Source{}, newFiles())
	if err != nil || c.Warnings() != nil {
		t.Errorf("%v, %v in\n%s", err, c.Warnings(), first[1])
	}
}

// The examples of the page on abuse can be pasted as they are. The only warning
// is one that the page explains.
func TestExamplesOfTheSecurityPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllSubmatch(page, -1)
	warned := 0
	for _, block := range blocks {
		c, err := load(readDocument("security.md", block[1]), Source{}, newFiles())
		if err != nil {
			t.Errorf("%v in\n%s", err, block[1])
			continue
		}
		for _, warning := range c.Warnings() {
			if warned++; !strings.HasSuffix(warning.Path, ".key") || !strings.Contains(warning.Detail, "address alone") {
				t.Errorf("%v in\n%s", warning, block[1])
			}
		}
	}
	if len(blocks) < 5 || warned != 1 {
		t.Errorf("%d examples, %d warnings", len(blocks), warned)
	}
}

var listIndex = regexp.MustCompile(`\[[0-9]+\]`)

// policyPaths are the settings below s, which is at path.
func policyPaths(s *schema, path string) []string {
	var paths []string
	for _, name := range s.names {
		field, at := s.fields[name], path+"."+name
		paths = append(paths, at)
		if field.kind == list {
			field = field.elem
		}
		if field.kind == group {
			paths = append(paths, policyPaths(field, at)...)
		}
	}
	return paths
}
