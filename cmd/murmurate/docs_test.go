package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/config"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/policy"
)

// agreeing has an override for every key, and agrees to all changes.
type agreeing struct{}

func (agreeing) SetOverride(policyName, _ string, o policy.Override, expiresIn time.Duration) (httpapi.RuntimeOverride, error) {
	return httpapi.RuntimeOverride{Policy: policyName, Override: o, Expires: expiresIn, Node: "n1"}, nil
}

func (agreeing) Override(policyName, _ string) (httpapi.RuntimeOverride, bool, error) {
	return httpapi.RuntimeOverride{Policy: policyName}, true, nil
}

func (agreeing) RemoveOverride(string, string) (bool, error) { return true, nil }
func (agreeing) Overrides() []httpapi.RuntimeOverride        { return nil }

// section is the part of the page on policies under a heading, and its first
// block in a language.
func section(t *testing.T, page, heading, language string) (text, block string) {
	t.Helper()
	_, text, found := strings.Cut(page, "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	_, block, marked := strings.Cut(text, "```"+language+"\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !marked || !closed {
		t.Fatalf("the section %q has no block of %s", heading, language)
	}
	return text, block
}

// serveDocumented is a server with the policies of a page.
func serveDocumented(t *testing.T, policies string) *httptest.Server {
	t.Helper()
	file := t.TempDir() + "/murmurate.yaml"
	if err := os.WriteFile(file, []byte(policies), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Source{File: file})
	if err != nil {
		t.Fatal(err)
	}
	set, err := cfg.PolicySet()
	if err != nil {
		t.Fatal(err)
	}
	node, err := murmurate.Start(t.Context(), murmurate.Options{Alone: true, Policies: set})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(httpapi.New(httpapi.Options{Node: node, Overrides: agreeing{}, OpenAdmin: true}).Handler())
	t.Cleanup(func() {
		server.Close()
		if err := node.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return server
}

var curl = regexp.MustCompile(`^curl (?:-X (\w+) )?'?localhost:7380([^\s']+)'?(?: -d '(.*)')?$`)

// Every command of the section on overrides at run time can be typed as it is.
func TestOverrideExamplesOfTheDocumentation(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, policies := section(t, string(content), "overrides", "yaml")
	text, _ := section(t, string(content), "Overrides at run time", "sh")
	server := serveDocumented(t, policies)
	client := newTestClient(t, nil)
	ran := make(map[string]int)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if args, ok := strings.CutPrefix(line, "murmurate "); ok {
			ran["murmurate"]++
			if code, _, stderr := invoke(t, []string{"MURMURATE_SERVER=" + server.URL}, strings.Fields(args)...); code != exitOK {
				t.Errorf("%s: exit code %d: %s", line, code, stderr)
			}
			continue
		}
		parts := curl.FindStringSubmatch(line)
		if parts == nil {
			if strings.HasPrefix(line, "curl ") {
				t.Errorf("not understood: %s", line)
			}
			continue
		}
		ran["curl"]++
		request, err := http.NewRequestWithContext(t.Context(), parts[1], server.URL+parts[2], strings.NewReader(parts[3]))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", line, response.StatusCode)
		}
	}
	if ran["murmurate"] < 5 || ran["curl"] < 5 {
		t.Errorf("only %v were run", ran)
	}
}
