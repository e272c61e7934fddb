package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something that must happen in the end.
const patience = 30 * time.Second

var program string // the built binary

func TestMain(m *testing.M) {
	if seed := os.Getenv(holderJoins); seed != "" { // see TestKilledHolder
		os.Exit(holdSlot(seed))
	}
	os.Exit(build(m))
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "murmurate-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "murmurate")
	out, err := exec.Command("go", "build", "-o", program, "../cmd/murmurate").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// node is a running process.
type node struct {
	t      *testing.T
	name   string
	http   string // host:port
	gossip string
	peer   string
	cmd    *exec.Cmd
	ready  chan struct{} // closed when it has said "ready"
	done   chan struct{} // closed when it has ended

	mu  sync.Mutex
	log bytes.Buffer // stdout and stderr
}

// setup is what differs from a node on free loopback ports.
type setup struct {
	name string
	env  []string // MURMURATE_...
	args []string
}

// start runs `serve` on free ports and waits until it listens.
func start(t *testing.T, s setup) *node {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	args := append([]string{"serve", "--name", s.name, "--http", "127.0.0.1:0", "--peer", "127.0.0.1:0"}, s.args...)
	if !strings.Contains(strings.Join(s.args, " "), "--gossip") {
		args = append(args, "--gossip", "127.0.0.1:0")
	}
	n := &node{t: t, name: s.name, ready: make(chan struct{}), done: make(chan struct{})}
	n.cmd = exec.Command(program, args...)
	n.cmd.Env = append(os.Environ(), s.env...)
	stdout, err := n.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	n.cmd.Stderr = n
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan struct{})
	read := make(chan struct{})
	go func() { defer close(read); n.follow(stdout, listening) }()
	go func() { <-read; _ = n.cmd.Wait(); close(n.done) }()
	t.Cleanup(func() {
		_ = n.cmd.Process.Kill()
		<-n.done
		if t.Failed() {
			t.Logf("%s said:\n%s", n.name, n.said())
		}
	})
	n.await(listening, "listen")
	return n
}

var listener = regexp.MustCompile(`^(http|gossip|peer)\s.*?(\d+\.\d+\.\d+\.\d+:\d+)`)

// follow reads the addresses and the word "ready" from the node's output.
func (n *node) follow(stdout io.Reader, listening chan struct{}) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		line := lines.Text()
		_, _ = n.Write([]byte(line + "\n"))
		if found := listener.FindStringSubmatch(line); found != nil {
			*map[string]*string{"http": &n.http, "gossip": &n.gossip, "peer": &n.peer}[found[1]] = found[2]
			if n.http != "" && n.gossip != "" && n.peer != "" {
				select {
				case <-listening:
				default:
					close(listening)
				}
			}
		}
		if strings.HasPrefix(line, "ready") {
			close(n.ready)
		}
	}
}

// Write appends to what the node has said.
func (n *node) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.Write(p)
}

func (n *node) said() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.String()
}

func (n *node) await(event <-chan struct{}, what string) {
	n.t.Helper()
	select {
	case <-event:
	case <-n.done:
		n.t.Fatalf("%s ended before it could %s:\n%s", n.name, what, n.said())
	case <-time.After(patience):
		n.t.Fatalf("%s did not %s within %v:\n%s", n.name, what, patience, n.said())
	}
}

func (n *node) signal(s syscall.Signal) {
	n.t.Helper()
	if err := n.cmd.Process.Signal(s); err != nil {
		n.t.Fatal(err)
	}
}

// end waits for the process to end and returns its exit code.
func (n *node) end() int {
	n.t.Helper()
	select {
	case <-n.done:
	case <-time.After(patience):
		n.t.Fatalf("%s did not end within %v:\n%s", n.name, patience, n.said())
	}
	return n.cmd.ProcessState.ExitCode()
}

// cluster starts size nodes as each says, all of which join the first, and
// waits until each is ready and counts all others as reachable.
func cluster(t *testing.T, size int, each setup) []*node {
	t.Helper()
	var nodes []*node
	for i := range size {
		s := setup{name: fmt.Sprintf("n%d", i+1), env: each.env, args: each.args}
		if i > 0 {
			s.args = append(slices.Clone(s.args), "--join", nodes[0].gossip)
		}
		nodes = append(nodes, start(t, s))
	}
	for _, n := range nodes {
		n.await(n.ready, "become ready")
		n.eventually(fmt.Sprintf("see %d active members", size), func() bool { return n.active() == size })
	}
	digest := nodes[0].status().Digest
	for _, n := range nodes {
		n.eventually("agree on the ring", func() bool { return n.status().Digest == digest })
	}
	return nodes
}

// eventually polls for a state of the node that must come.
func (n *node) eventually(what string, holds func() bool) {
	n.t.Helper()
	eventually(n.t, n.name+" to "+what, holds)
}

// eventually polls for a state that must come.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

type clusterStatus struct {
	Self    string `json:"self"`
	Digest  string `json:"digest"`
	Owner   string `json:"owner"`
	Members []struct {
		ID        string  `json:"id"`
		State     string  `json:"state"`
		Reachable bool    `json:"reachable"`
		Owned     float64 `json:"owned"`
	} `json:"members"`
}

func (n *node) status() clusterStatus { return n.statusOf("") }

func (n *node) statusOf(query string) clusterStatus {
	n.t.Helper()
	var s clusterStatus
	body := n.get("/v1/cluster" + query)
	if err := json.Unmarshal(body, &s); err != nil {
		n.t.Fatalf("/v1/cluster: %v in %s", err, body)
	}
	return s
}

// active counts the active members that the node reaches.
func (n *node) active() int {
	count := 0
	for _, m := range n.status().Members {
		if m.State == "active" && m.Reachable {
			count++
		}
	}
	return count
}

func (n *node) get(path string) []byte {
	n.t.Helper()
	resp, err := client.Get("http://" + n.http + path)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return body
}

var client = &http.Client{
	Timeout:   patience,
	Transport: &http.Transport{MaxIdleConnsPerHost: 64},
}

// answer is the part of a decision that the tests look at.
type answer struct {
	Status       int
	Header       http.Header
	Allowed      bool   `json:"allowed"`
	Remaining    int64  `json:"remaining"`
	RetryAfterMS int64  `json:"retry_after_ms"`
	Source       string `json:"source"`
	Elapsed      time.Duration
}

var errNoDecision = errors.New("no decision")

// check posts one check. Errors are the connection's, or an answer that is
// no decision.
func check(addr, body string) (answer, error) {
	began := time.Now()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+addr+"/v1/check", strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{Status: resp.StatusCode, Header: resp.Header, Elapsed: time.Since(began)}
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, fmt.Errorf("%w: %d %s", errNoDecision, resp.StatusCode, raw)
	}
	if a.Status != http.StatusOK && a.Status != http.StatusTooManyRequests {
		return a, fmt.Errorf("%w: %d %s", errNoDecision, resp.StatusCode, raw)
	}
	return a, nil
}

func (n *node) check(body string) answer {
	n.t.Helper()
	a, err := check(n.http, body)
	if err != nil {
		n.t.Fatal(err)
	}
	return a
}

// freeAddr is a loopback address that nobody listens on at the moment.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
