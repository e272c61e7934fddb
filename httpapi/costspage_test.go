package httpapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/murmurate/murmurate/config"
	"github.com/murmurate/murmurate/httpapi"
)

var (
	pageBlock = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")
	curlCall  = regexp.MustCompile(`^curl localhost:7380(\S+) -d '(.*)'\n$`)
)

// The page on costs answers as it says: its policy is put in force, its calls
// are made, and what it shows of the answers is compared. Its Go code is that
// of the examples.
func TestCostsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	var calls, answers []string
	file := filepath.Join(t.TempDir(), "page.yaml")
	for _, block := range pageBlock.FindAllStringSubmatch(string(page), -1) {
		switch block[1] {
		case "yaml":
			if err := os.WriteFile(file, []byte(block[2]), 0o600); err != nil {
				t.Fatal(err)
			}
		case "sh":
			calls = append(calls, block[2])
		case "json":
			answers = append(answers, block[2])
		case "go":
			inExamples(t, block[2])
		}
	}
	c, err := config.Load(config.Source{File: file})
	if err != nil {
		t.Fatal(err)
	}
	set, err := c.PolicySet()
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) != len(answers) || len(calls) < 5 {
		t.Fatalf("%d calls, %d answers", len(calls), len(answers))
	}
	synctest.Test(t, func(t *testing.T) {
		h := httpapi.New(httpapi.Options{Node: alone(t, set.Policies()...)}).Handler()
		receipt := ""
		for i, call := range calls {
			parts := curlCall.FindStringSubmatch(call)
			if parts == nil {
				t.Fatalf("not a call: %q", call)
			}
			_, _, got := post(t, h, parts[1], strings.ReplaceAll(parts[2], "RECEIPT", receipt))
			var want map[string]any
			if err := json.Unmarshal([]byte(answers[i]), &want); err != nil {
				t.Fatal(err)
			}
			if want["receipt"] != nil {
				receipt, _ = got["receipt"].(string)
				want["receipt"] = receipt
			}
			for name, value := range want {
				if !reflect.DeepEqual(got[name], value) || value == "" {
					t.Errorf("%sanswers %s %v, want %v", call, name, got[name], value)
				}
			}
		}
	})
}

// inExamples checks that code is part of the examples of this package or of
// the node's.
func inExamples(t *testing.T, code string) {
	t.Helper()
	space := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	var all strings.Builder
	for _, name := range []string{"costafterexample_test.go", "../example_test.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(source)
	}
	for len(code) > 0 && strings.HasPrefix(code, "//") {
		_, code, _ = strings.Cut(code, "\n")
	}
	if !strings.Contains(space(all.String()), space(code)) {
		t.Errorf("no example has\n%s", code)
	}
}
