package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// gateway is a real reverse proxy with the configuration that the page on
// gateways shows.
type gateway struct {
	name  string
	files []string // below docs/gateways; the first one is what it is started with
	// args start it in the foreground in a folder that holds the files.
	args func(t *testing.T, dir string) []string
	// closed changes its files so that nobody passes while the limiter is away.
	closed *strings.Replacer
	// away and hung are the statuses of its clients meanwhile: while nothing
	// listens, and while what listens does not answer.
	away, hung int
}

// answered are the errors of Caddy that its file does something about.
var answered = regexp.MustCompile(`(?s)\n\n\t# No answer.*?\n\t}\n`)

var gateways = []gateway{
	{
		name: "nginx", files: []string{"nginx.conf"},
		args: func(t *testing.T, dir string) []string {
			t.Helper()
			main := fmt.Sprintf("pid %[1]s/pid; error_log stderr; events {} http { access_log off; client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; "+
				"fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e; include %[1]s/nginx.conf; }\n", dir)
			if err := os.WriteFile(filepath.Join(dir, "main.conf"), []byte(main), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{"-e", "stderr", "-p", dir, "-c", filepath.Join(dir, "main.conf"), "-g", "daemon off; master_process off;"}
		},
		closed: strings.NewReplacer("error_page 502 504 = @open;", ""),
		away:   http.StatusServiceUnavailable, hung: http.StatusServiceUnavailable,
	},
	{
		name: "caddy", files: []string{"Caddyfile"},
		args: func(*testing.T, string) []string {
			return []string{"run", "--config", "Caddyfile", "--adapter", "caddyfile"}
		},
		closed: strings.NewReplacer(answered.FindString(read("Caddyfile")), "\n"),
		away:   http.StatusBadGateway, hung: http.StatusGatewayTimeout,
	},
	{
		name: "haproxy", files: []string{"haproxy.cfg", "murmurate.lua"},
		args:   func(*testing.T, string) []string { return []string{"-db", "-f", "haproxy.cfg"} },
		closed: strings.NewReplacer("local open = true", "local open = false"),
		away:   http.StatusServiceUnavailable, hung: http.StatusServiceUnavailable,
	},
}

// read is a file of a gateway as the page shows it. One that is not there is
// noticed where it is needed.
func read(name string) string {
	text, _ := os.ReadFile(filepath.Join("../docs/gateways", name))
	return string(text)
}

// behind is three requests an hour for each client.
const behind = `
http: {trusted_proxies: [127.0.0.1]}
policies:
  - name: hourly
    match: {host: "127.0.0.1", method: [GET, POST]}
    key: [ip]
    limits: [{algorithm: sliding_log, rate: 3/h}]
    exempt: [{path: /free}]
`

// find is the program of a server. Where all tests must run, so must this one.
func find(t *testing.T, name string) string {
	t.Helper()
	for _, name := range []string{name, "/usr/sbin/" + name} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// start runs the gateway before app and limiter, and returns its address.
func (g *gateway) start(t *testing.T, program, app, limiter string, change *strings.Replacer) string {
	t.Helper()
	dir, addr := t.TempDir(), freeAddr(t)
	ours := strings.NewReplacer("127.0.0.1:8000", addr, ":8000", addr[strings.LastIndexByte(addr, ':'):],
		"127.0.0.1:8080", app, "127.0.0.1:7380", limiter, "abns@murmurate", "abns@"+addr)
	for _, name := range g.files {
		text := change.Replace(read(name))
		changed := ours.Replace(text)
		if name == "Caddyfile" {
			changed = "{\n\tadmin off\n}\n" + changed
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, g.args(t, dir)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", g.name, &said)
		}
	})
	eventually(t, g.name+" to listen", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	return addr
}

// through sends a request through a gateway.
func through(t *testing.T, addr, method, path string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(method, "http://"+addr+path, strings.NewReader("a body"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp
}

// patient lets a gateway wait for its limiter as long as a busy machine needs.
var patient = strings.NewReplacer("100ms", "20s", "50ms", "20s")

// before starts the gateway, if it is installed, before a limiter with a
// configuration and an application.
func (g *gateway) before(t *testing.T, config, app string) (addr string, limiter *node) {
	t.Helper()
	program := find(t, g.name)
	limiter = start(t, setup{name: g.name, args: []string{"--config", written(t, config)}})
	limiter.await(limiter.ready, "become ready")
	return g.start(t, program, app, limiter.http, patient), limiter
}

// written is a file that holds a configuration.
func written(t *testing.T, config string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "murmurate.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// scenario 46: nginx's auth_request turned the limiter's 429 into 500.
func TestGateways(t *testing.T) {
	t.Parallel()
	for _, g := range gateways {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/free" {
					w.WriteHeader(http.StatusForbidden) // its own, which no gateway may take for a denial
				}
			}))
			defer app.Close()
			addr, _ := g.before(t, behind, app.Listener.Addr().String())
			forged := []string{
				"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Uri", "/free", "X-Original-Uri", "/free", "X-Original-Url", "http://other/free",
				"X-Forwarded-Method", "BREW", "X-Original-Method", "BREW", "X-Forwarded-Host", "other",
			}
			for i, step := range []struct {
				method, path string
				header       []string
				status       int
				left         string // of RateLimit, empty: absent
			}{
				{"GET", "/a?b=c", nil, 200, "r=2"},
				{"POST", "/a", forged, 200, "r=1"},
				{"GET", "/free", nil, 403, ""},
				{"GET", "/", forged, 200, "r=0"},
				{"GET", "/a", nil, 429, "r=0"},
				{"POST", "/a", forged, 429, "r=0"},
				{"PUT", "/a", nil, 200, ""}, // no policy
				{"GET", "/free", forged, 403, ""},
			} {
				resp := through(t, addr, step.method, step.path, step.header...)
				if kind := resp.Header.Get("Content-Type"); step.status == 429 && kind != "application/problem+json" {
					t.Errorf("request %d: a denial of type %q", i+1, kind)
				}
				limit, retry := resp.Header.Get("RateLimit"), resp.Header.Get("Retry-After")
				if resp.StatusCode != step.status || !strings.Contains(limit, step.left) || (limit == "") != (step.left == "") ||
					(resp.Header.Get("RateLimit-Policy") == "") != (step.left == "") || (retry != "") != (step.status == 429) {
					t.Errorf("request %d: status %d, RateLimit %q, Retry-After %q, want %d with %q", i+1, resp.StatusCode, limit, retry, step.status, step.left)
				}
			}
		})
	}
}

// stopped reports whether no thread of a process runs.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("no threads of %d: %v", pid, err)
	}
	for _, thread := range threads {
		if stat, err := os.ReadFile(thread); err == nil && !strings.Contains(string(stat), ") T ") {
			return false
		}
	}
	return true
}

// While the limiter is away, requests pass with their bodies or do not, as the
// gateway is told; and from the first one after that on they are counted.
func TestGatewaysWithoutALimiter(t *testing.T) {
	t.Parallel()
	for _, g := range gateways {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, err := io.ReadAll(r.Body); err != nil || string(body) != "a body" {
					w.WriteHeader(http.StatusBadRequest)
				}
			}))
			defer app.Close()
			addr, limiter := g.before(t, behind, app.Listener.Addr().String()) // once it is back
			hurried := g.start(t, find(t, g.name), app.Listener.Addr().String(), limiter.http, strings.NewReplacer())
			closed := g.start(t, find(t, g.name), app.Listener.Addr().String(), limiter.http, g.closed)
			want := func(why string, open, shut int) {
				t.Helper()
				for range 2 {
					if got := through(t, hurried, "POST", "/a").StatusCode; got != open {
						t.Errorf("open, %s: status %d, want %d", why, got, open)
					}
					if got := through(t, closed, "POST", "/a").StatusCode; got != shut {
						t.Errorf("closed, %s: status %d, want %d", why, got, shut)
					}
				}
			}
			limiter.signal(syscall.SIGSTOP)
			eventually(t, "the limiter to stop", func() bool { return stopped(t, limiter.cmd.Process.Pid) })
			want("the limiter hangs", http.StatusOK, g.hung)
			limiter.signal(syscall.SIGKILL)
			<-limiter.done
			want("the limiter has ended", http.StatusOK, g.away)

			start(t, setup{name: g.name, args: []string{"--config", written(t, behind), "--http", limiter.http}})
			if resp := through(t, addr, "POST", "/a"); !strings.Contains(resp.Header.Get("RateLimit"), "r=2") {
				t.Errorf("the first request after the limiter is back: status %d, RateLimit %q", resp.StatusCode, resp.Header.Get("RateLimit"))
			}
		})
	}
}
