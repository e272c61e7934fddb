package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// mark begins every key of TestKeysStayOutOfSight. What follows says where
// the key was given, so that a find tells how it got out.
const mark = "zq7mark"

// markedPolicies key requests by everything that a key can be made of.
const markedPolicies = `log: {level: debug}
http: {trusted_proxies: [127.0.0.0/8]}
policies:
  - name: given
    limits:
      - {name: small, algorithm: fixed_window, rate: 1/24h, align: first}
      - {name: large, algorithm: token_bucket, rate: 1000/h}
    overrides:
      - {key: zq7mark-blocked, blocked: true}
      - {key_prefix: zq7mark-partner, unlimited: true}
  - name: header
    match: {path: "/{tenant}/**"}
    key: [header:X-Api-Key | query:key | cookie:session, path:tenant]
    limits: [{algorithm: sliding_log, rate: 1/h}]
  - name: whole
    match: {path: /**}
    key: [path, host]
    limits: [{algorithm: sliding_window, rate: 1/h}]
  - name: user
    match: {attribute: [{name: user}]}
    key: [attr:user | header:X-User]
    limits: [{algorithm: leaky_bucket, rate: 1/h}]
  - name: address
    match: {path: /**}
    key: [ip]
    limits: [{algorithm: token_bucket, rate: 100000/h}]
    shadow: true
`

// markedTraffic is every way to give a node a key, wrong ones among them.
var markedTraffic = []struct{ method, path, body string }{
	{"POST", "/v1/check", `{"policy":"given","key":"zq7mark-body"}`},
	{"POST", "/v1/check", `{"policy":"given","key":"zq7mark-peek","peek":true}`},
	{"POST", "/v1/check", `{"policy":"given","key":"zq7mark-blocked"}`},
	{"POST", "/v1/check", `{"policy":"given","key":"zq7mark-partner-1"}`},
	{"POST", "/v1/check", `{"policy":"given","key":"zq7mark-dear","cost":100000}`},
	{"POST", "/v1/check", `{"policy":"given","key":"fp:zq7mark"}`},
	{"POST", "/v1/check", `{"policy":"absent","key":"zq7mark-nopolicy"}`},
	{"POST", "/v1/check", `{"key":"zq7mark-inline","limit":{"algorithm":"token_bucket","rate":"1/1h"}}`},
	{"POST", "/v1/check", `{"key":"zq7mark-badlimit","limit":{"algorithm":"token_bucket","rate":"1"}}`},
	{"POST", "/v1/check", `{"policy":"given","key":"zq7mark-long` + strings.Repeat("x", 2000) + `"}`},
	{"POST", "/v1/check", `{"policy":"given","key":"zq7mark-utf8` + "\xff" + `"}`},
	{"POST", "/v1/check", `{"policy":"given","key":"zq7mark-cut`},
	{"POST", "/v1/check", `{"policy":"given","key":["zq7mark-list"]}`},
	{"POST", "/v1/check", `{"policy":"given","key":"zq7mark-extra","surplus":"zq7mark-surplus"}`},
	{"POST", "/v1/check/batch", `{"checks":[{"policy":"given","key":"zq7mark-batch"},{"policy":"absent","key":"zq7mark-bad"}]}`},
	{"POST", "/v1/check", `{"attributes":{"path":"/zq7mark-tenant/x","host":"zq7mark.example.com","ip":"203.0.113.77","headers":{"X-Api-Key":"zq7mark-header","X-User":"zq7mark-user"},"query":{"key":"zq7mark-query"},"cookies":{"session":"zq7mark-cookie"},"user":"zq7mark-attr"}}`},
	{"POST", "/v1/check?explain=1", `{"attributes":{"path":"/zq7mark-told/x","host":"zq7mark.example.com","ip":"203.0.113.77","headers":{"X-Api-Key":"zq7mark-told"},"user":"zq7mark-told"}}`},
	{"POST", "/v1/check", `{"attributes":{"path":"/a","ip":"zq7mark-ip"}}`},
	{"GET", "/gateway/zq7mark-gateway/x?key=zq7mark-gatequery", ""},
	{"GET", "/gateway", ""},
	{"GET", "/v1/keys/given/zq7mark-looked", ""},
	{"DELETE", "/v1/keys/given/zq7mark-reset", ""},
	{"GET", "/v1/keys/absent/zq7mark-lost", ""},
	{"PUT", "/v1/overrides/given/zq7mark-dear-one", `{"limits":[{"name":"small","rate":"9/24h"}],"expires_in":"1h"}`},
	{"PUT", "/v1/overrides/header/header:x-api-key=zq7mark-part&path:tenant=zq7mark-tenant", `{"blocked":true}`},
	{"PUT", "/v1/overrides/given/zq7mark-wrong", `{"limits":[{"name":"none"}],"expires_in":"soon"}`},
	{"GET", "/v1/overrides/given/zq7mark-dear-one", ""},
	{"GET", "/v1/overrides/given/zq7mark-none", ""},
	{"PUT", "/v1/overrides/given/zq7mark-short", `{"unlimited":true}`},
	{"DELETE", "/v1/overrides/given/zq7mark-short", ""},
	{"GET", "/v1/cluster?policy=given&key=zq7mark-owner", ""},
	{"GET", "/zq7mark-nowhere", ""},
}

// TestKeysStayOutOfSight: what a key is made of leaves a node in no log line,
// metric, file or answer, whether its checks are admitted, denied, wrong, or
// meant for a node that is dead.
func TestKeysStayOutOfSight(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "murmurate.yaml")
			if err := os.WriteFile(file, []byte(markedPolicies), 0o600); err != nil {
				t.Fatal(err)
			}
			dirs := t.TempDir()
			var nodes []*node
			for i := range 3 {
				s := setup{name: fmt.Sprintf("n%d", i+1), env: []string{"MURMURATE_LOG_FORMAT=" + format}}
				s.args = []string{"--config", file, "--data-dir", filepath.Join(dirs, s.name)}
				if i > 0 {
					s.args = append(s.args, "--join", nodes[0].gossip)
				}
				nodes = append(nodes, start(t, s))
			}
			for _, n := range nodes {
				n.await(n.ready, "become ready")
				n.eventually("see three active members", func() bool { return n.active() == 3 })
			}
			var seen watcher
			everything := func(nodes []*node) {
				for _, n := range nodes {
					for _, request := range markedTraffic {
						seen.send(n, request.method, request.path, request.body)
						seen.send(n, request.method, request.path, request.body) // denied now, if it ever is
					}
				}
			}
			everything(nodes)
			nodes[2].signal(syscall.SIGKILL)
			nodes[2].end()
			everything(nodes[:2])
			nodes[0].signal(syscall.SIGHUP)
			for _, page := range []string{"/", "/metrics", "/readyz?verbose", "/v1/policies", "/v1/cluster", "/v1/overrides", "/openapi.json"} {
				seen.send(nodes[0], "GET", page, "")
			}
			for _, n := range nodes[:2] {
				n.signal(syscall.SIGTERM)
				n.end()
			}
			for _, n := range nodes {
				seen.look(n.name+"'s output", []byte(n.said()))
			}
			if files := seen.files(t, dirs); files < 3 {
				t.Errorf("%d files are kept, so the test shows little", files)
			}
			if list := seen.pages["/v1/overrides"]; strings.Count(list, `"fingerprint":"fp:`) != 2 {
				t.Errorf("the overrides are %s", list)
			}
			if metrics := seen.pages["/metrics"]; !strings.Contains(metrics, `murmurate_denials_total{limit="small",policy="given"}`) {
				t.Errorf("the traffic was not counted, so the test shows nothing:\n%s", metrics)
			}
			if !strings.Contains(nodes[0].said(), "level=DEBUG") && !strings.Contains(nodes[0].said(), `"level":"DEBUG"`) {
				t.Error("nothing was logged at level debug, so the test shows little")
			}
			for _, find := range slices.Compact(seen.finds) {
				t.Error(find)
			}
		})
	}
}

// watcher sends requests, and looks for marks in what comes back.
type watcher struct {
	pages map[string]string // the last answer by path
	finds []string
}

func (w *watcher) send(n *node, method, path, body string) {
	n.t.Helper()
	req, err := http.NewRequestWithContext(n.t.Context(), method, "http://"+n.http+path, strings.NewReader(body))
	if err != nil {
		n.t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-For", "203.0.113.77")
	if strings.HasPrefix(path, "/gateway") {
		req.Header.Set("X-Api-Key", mark+"-gatekey")
		req.Header.Set("X-User", mark+"-gateuser")
		req.Header.Set("X-Original-URI", "/"+mark+"-original?key="+mark+"-originalquery")
		req.Header.Set("Cookie", "session="+mark+"-gatecookie")
	}
	resp, err := client.Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	if w.pages == nil {
		w.pages = make(map[string]string)
	}
	w.pages[path] = string(answer)
	w.look(fmt.Sprintf("the answer to %s %s %.60s", method, path, body), answer)
	w.look(fmt.Sprintf("the header of the answer to %s %s %.60s", method, path, body), fmt.Append(nil, resp.Header))
}

// files searches what the nodes keep, and returns how many files that is.
func (w *watcher) files(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		w.look(path, append(text, path...))
		n++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// look searches text for marks, and for the address that stands for a person.
func (w *watcher) look(where string, text []byte) {
	for _, secret := range []string{mark, "203.0.113.77"} {
		for _, form := range forms(secret) {
			if i := bytes.Index(bytes.ToLower(text), bytes.ToLower(form)); i >= 0 {
				around := text[max(0, i-80):min(len(text), i+80)]
				w.finds = append(w.finds, fmt.Sprintf("%s holds %q: %q", where, form, around))
			}
		}
	}
}

// forms are how secret may be written.
func forms(secret string) [][]byte {
	found := [][]byte{[]byte(secret), []byte(hex.EncodeToString([]byte(secret)))}
	for shift := range 3 { // base64 of the parts that do not depend on what stands around
		encoded := base64.RawURLEncoding.EncodeToString(append(make([]byte, shift), secret...))
		found = append(found, []byte(encoded[(shift*8+5)/6:len(encoded)-1]))
	}
	return found
}
