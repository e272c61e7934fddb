package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// invoke runs the program in this process.
func invoke(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	code = run(args, env, &out, &complaints)
	return code, out.String(), complaints.String()
}

func TestAnswersBecomeExitCodes(t *testing.T) {
	t.Parallel()
	const problemType, jsonType = "application/problem+json", "application/json; charset=utf-8"
	for name, test := range map[string]struct {
		command    string
		status     int
		kind, body string
		code       int
		want       string // in what is printed
	}{
		"not ready":         {"healthcheck", 503, problemType, `{"title":"Service Unavailable","detail":"not ready: joined: joining"}`, exitUnreachable, "not ready: joined: joining"},
		"ready":             {"healthcheck", 200, jsonType, `{"ready":true,"detail":"alone"}`, exitOK, "alone"},
		"no health":         {"healthcheck", 200, jsonType, `[]`, exitError, "not a state of health"},
		"no node":           {"members", 200, "text/html", `<html>`, exitError, "is http://127.0.0.1:"},
		"broken JSON":       {"members", 200, jsonType, `{"self":`, exitError, "is http://127.0.0.1:"},
		"no cluster":        {"members", 200, jsonType, `"x"`, exitError, "not the state of a cluster"},
		"no decision":       {"check k", 200, jsonType, `[]`, exitError, "not a decision"},
		"no token":          {"reset k --policy p", 401, problemType, `{"title":"Unauthorized","detail":"d"}`, exitError, "Unauthorized (401): d; give a token with --token-file"},
		"wrong token":       {"reset k --policy p --token-file /dev/null", 401, problemType, `{"title":"Unauthorized","detail":"d"}`, exitError, "Unauthorized (401): d; --token-file is /dev/null"},
		"untitled":          {"check k", 404, problemType, `{"detail":"d"}`, exitError, "Not Found (404): d"},
		"broken problem":    {"check k", 500, problemType, `<`, exitError, "Internal Server Error (500)"},
		"denied otherwise":  {"check k", 403, jsonType, `{"allowed":false,"denied_by":["q"],"retry_after_ms":-1}`, exitDenied, "denied by q: retry never"},
		"delayed":           {"check k", 200, jsonType, `{"allowed":true,"remaining":1,"limit":2,"delay_ms":1500}`, exitOK, "allowed: 1 left of 2, wait 1.5s first"},
		"nobody owns a key": {"ring --key k", 200, jsonType, `{"self":"n1"}`, exitOK, "no owner is known"},
		"keys of others":    {"members", 200, jsonType, `{"self":"n1","members":[{"id":"n2","owned":0.25,"keys":null}]}`, exitOK, "25.0%  -"},
		"a quota by a share": {"quota k --policy p", 200, jsonType, `{"allowed":true,"source":"share","limits":[{"name":"p","algorithm":"quota","limit":9,"remaining":3}]}`,
			exitUnreachable, "is not known: the node that counts it is out of reach (source share)"},
		"a quota from the first call on": {"quota k --policy p", 200, jsonType, `{"allowed":true,"source":"owner","limits":[{"name":"p","algorithm":"quota","limit":9,"remaining":9,"used":0,"unit":"bytes"}]}`,
			exitOK, "p      0     9     9   bytes  with the next call"},
		"a quota of nobody's": {"quota k --policy p", 503, jsonType, `{"allowed":false,"source":"fail_closed","limits":[{"name":"p","algorithm":"quota","limit":1000,"remaining":0}]}`,
			exitUnreachable, "out of reach (source fail_closed)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.kind)
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			}))
			defer server.Close()
			code, stdout, stderr := invoke(t, []string{"MURMURATE_SERVER=" + server.URL}, strings.Fields(test.command)...)
			if code != test.code || !strings.Contains(stdout+stderr, test.want) {
				t.Errorf("exit code %d, want %d with %q in %q %q", code, test.code, test.want, stdout, stderr)
			}
		})
	}
}

func TestTokenIsReadFromItsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var sent string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"allowed":true}`))
	}))
	defer server.Close()
	for name, test := range map[string]struct{ env, args []string }{
		"by flag":     {nil, []string{"--token-file", file}},
		"by variable": {[]string{"MURMURATE_TOKEN_FILE=/nowhere", "MURMURATE_TOKEN_FILE=" + file}, nil},
	} {
		sent = ""
		args := append([]string{"reset", "k", "--policy", "p", "--server", server.URL + "/"}, test.args...)
		if code, _, stderr := invoke(t, test.env, args...); code != exitOK || sent != "Bearer s3cret" {
			t.Errorf("%s: exit code %d, sent %q: %s", name, code, sent, stderr)
		}
	}
	code, _, stderr := invoke(t, nil, "reset", "k", "--policy", "p", "--server", server.URL, "--token-file", file+".missing")
	if code != exitError || !strings.Contains(stderr, "token file") {
		t.Errorf("a missing file: exit code %d: %s", code, stderr)
	}
}
