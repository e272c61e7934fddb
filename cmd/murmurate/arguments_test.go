package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/policy"
)

// A key that cannot be limited is a fault of the command line, and no node
// is asked.
func TestKeysThatNoNodeTakes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s was sent", r.Method, r.URL)
	}))
	defer server.Close()
	for command, args := range map[string]func(key string) []string{
		"check": func(key string) []string { return []string{"check", key} },
		"reset": func(key string) []string { return []string{"reset", key, "--policy", "p"} },
		"ring":  func(key string) []string { return []string{"ring", "--key", key} },
	} {
		for key, want := range map[string]string{
			"":      "must not be empty",
			"a\xff": "must be valid UTF-8",
			strings.Repeat("k", policy.MaxKeyBytes+1): "must be at most 1024 bytes, got 1025",
		} {
			code, _, stderr := invoke(t, []string{"MURMURATE_SERVER=" + server.URL}, args(key)...)
			if code != exitUsage || !strings.Contains(strings.ToUpper(stderr), "KEY "+strings.ToUpper(want)) {
				t.Errorf("%s %.10q: exit code %d, want %d with %q in %q", command, key, code, exitUsage, want, stderr)
			}
		}
	}
	for _, command := range []string{
		"check fp:zz --peek", "check fp:zz --cost 0", "reset fp:zz --policy p", "ring --key fp:zz", "override rm fp:zz --policy p",
	} {
		code, _, stderr := invoke(t, []string{"MURMURATE_SERVER=" + server.URL}, strings.Fields(command)...)
		if code != exitUsage || !strings.Contains(stderr, "32 hexadecimal digits") {
			t.Errorf("%s: exit code %d, %q", command, code, stderr)
		}
	}
}
