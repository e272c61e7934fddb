package httpapi

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page on HTTP has what the document has: paths, parameters, fields of
// bodies, header fields and problems. What policies consist of has a page of
// its own.
func TestHTTPPageHasEverything(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	page, document := string(text), described(t, false)
	need := func(what string) { // alone, or with a method or query beside it
		if !strings.Contains(page, "`"+what+"`") && !strings.Contains(page, "`"+what+" ") && !strings.Contains(page, " "+what+"`") {
			t.Errorf("docs/http.md does not say `%s`", what)
		}
	}
	for path := range document.Paths.Map() {
		need(path)
	}
	for name := range document.Components.Headers {
		if name != "NoStore" {
			need(name)
		}
	}
	elsewhere := []string{"Match", "Field", "Tiers", "Exemption", "Cost", "Index"}
	for name, s := range document.Components.Schemas {
		if slices.Contains(elsewhere, name) {
			continue
		}
		for property := range s.Value.Properties {
			need(property)
		}
	}
}

var jsonBlock = regexp.MustCompile("(?ms)^```json\n(.*?)^```$")

// What the page on policies shows of a check is one.
func TestChecksOfThePoliciesPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	checks := 0
	for _, block := range jsonBlock.FindAllSubmatch(page, -1) {
		if !strings.Contains(string(block[1]), `"attributes"`) {
			continue
		}
		checks++
		if _, err := decodeCheck(block[1]); err != nil {
			t.Errorf("%v in\n%s", err, block[1])
		}
	}
	if checks == 0 {
		t.Error("there is none")
	}
}
