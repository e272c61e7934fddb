package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience bounds every wait for something that must happen in the end.
const patience = 30 * time.Second

// process is a node in a process of its own, as a script knows it.
type process struct {
	cmd    *exec.Cmd
	stderr watched
	ready  chan readyLine // closed when stdout ends
	done   chan struct{}  // closed when the process has ended
	open   net.Conn       // holds a request that begin has begun
}

// processes are the nodes of one script, by name.
type processes map[string]*process

type processesKey struct{}

// nodesOf returns the nodes of the running script.
func nodesOf(ts *testscript.TestScript) processes {
	nodes, _ := ts.Value(processesKey{}).(processes)
	return nodes
}

func find(ts *testscript.TestScript, neg bool, args []string, n int, usage string) *process {
	if neg || len(args) != n {
		ts.Fatalf("usage: %s", usage)
	}
	p := nodesOf(ts)[args[0]]
	if p == nil {
		ts.Fatalf("there is no node %q", args[0])
	}
	return p
}

// node starts a node on free ports and waits until it is ready:
//
//	node NAME [FLAG...]
//
// Its addresses are then in $NAME_http (a URL), $NAME_addr (of HTTP),
// $NAME_admin, $NAME_gossip and $NAME_peer, and what it said when it was
// ready in $NAME_ready.
func node(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: node NAME [FLAG...]")
	}
	name := args[0]
	command := append([]string{"serve", "-o", "json", "--name", name,
		"--http", anyPort, "--gossip", anyPort, "--peer", anyPort}, args[1:]...)
	p := &process{cmd: exec.Command("murmurate", command...), ready: make(chan readyLine, 1), done: make(chan struct{})}
	p.cmd.Dir = ts.MkAbs(".")
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(p.cmd.Start())
	found := make(map[string]string)
	go func() {
		defer close(p.done)
		p.read(stdout, found)
		_ = p.cmd.Wait() // the exit code is in ProcessState
	}()
	ts.Defer(func() {
		_ = p.cmd.Process.Kill() // may have ended
		<-p.done
		if p.open != nil {
			_ = p.open.Close()
		}
	})
	nodesOf(ts)[name] = p
	select {
	case line, ok := <-p.ready:
		if !ok {
			ts.Fatalf("node %s ended: %s", name, p.stderr.String())
		}
		ts.Setenv(name+"_ready", line.Detail)
	case <-time.After(patience):
		ts.Fatalf("node %s is not ready: %s", name, p.stderr.String())
	}
	for listener, address := range found {
		ts.Setenv(name+"_"+listener, address)
	}
	_, addr, _ := strings.Cut(found["http"], "://")
	ts.Setenv(name+"_addr", addr)
}

// read follows what the node prints; found is complete when ready delivers.
func (p *process) read(stdout io.Reader, found map[string]string) {
	defer close(p.ready)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var line struct {
			listening
			readyLine
		}
		switch err := json.Unmarshal(lines.Bytes(), &line); {
		case err != nil:
			fmt.Fprintf(&p.stderr, "not JSON on standard output: %s\n", lines.Bytes())
		case line.Ready:
			p.ready <- line.readyLine
		default:
			found[line.Listener] = line.Address
		}
	}
}

var signals = map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": os.Kill}

// signalNode sends a signal: signal NAME TERM.
func signalNode(ts *testscript.TestScript, neg bool, args []string) {
	p := find(ts, neg, args, 2, "signal NAME INT|TERM|HUP|KILL")
	ts.Check(p.cmd.Process.Signal(signals[args[1]]))
}

// again sends a signal until the node has ended: again NAME TERM. Those that
// follow another too soon count as one with it.
func again(ts *testscript.TestScript, neg bool, args []string) {
	p := find(ts, neg, args, 2, "again NAME INT|TERM")
	for {
		_ = p.cmd.Process.Signal(signals[args[1]]) // may have ended
		select {
		case <-p.done:
			return
		case <-time.After(echoWithin / 4):
		}
	}
}

// logged waits for a text in the node's log: logged NAME TEXT.
func logged(ts *testscript.TestScript, neg bool, args []string) {
	p := find(ts, neg, args, 2, "logged NAME TEXT")
	if !p.stderr.waitFor(args[1], patience) {
		ts.Fatalf("%q is not in the log:\n%s", args[1], p.stderr.String())
	}
}

// ended waits for the end of a node, and compares its exit code:
// ended NAME CODE.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	p := find(ts, neg, args, 2, "ended NAME CODE")
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("node %s goes on: %s", args[0], p.stderr.String())
	}
	if code := fmt.Sprint(p.cmd.ProcessState.ExitCode()); code != args[1] {
		ts.Fatalf("exit code %s, want %s: %s", code, args[1], p.stderr.String())
	}
}

// body is that of the check that begin and finish make.
const body = `{"policy":"default","key":"in-flight"}`

// begin sends a check without its body, and waits until the node asks for it
// (RFC 9110, section 10.1.1): from then on the check is in flight.
func begin(ts *testscript.TestScript, neg bool, args []string) {
	p := find(ts, neg, args, 1, "begin NAME")
	conn, err := net.Dial("tcp", ts.Getenv(args[0]+"_addr"))
	ts.Check(err)
	p.open = conn
	ts.Check(conn.SetDeadline(time.Now().Add(patience)))
	_, err = fmt.Fprintf(conn, "POST /v1/check HTTP/1.1\r\nHost: node\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	ts.Check(err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	ts.Check(err)
	if !strings.Contains(line, "100") {
		ts.Fatalf("answered %q instead of asking for the body", line)
	}
}

// finish sends the body, and wants an admission.
func finish(ts *testscript.TestScript, neg bool, args []string) {
	p := find(ts, neg, args, 1, "finish NAME")
	_, err := io.WriteString(p.open, body)
	ts.Check(err)
	answer, err := io.ReadAll(p.open)
	if err != nil || !bytes.Contains(answer, []byte(`"allowed":true`)) {
		ts.Fatalf("%v: answered %q", err, answer)
	}
}

// watched is a log that can be waited for. The zero value is empty.
type watched struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed by the next write, if somebody waits
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// waitFor reports whether text is there before the time is over.
func (w *watched) waitFor(text string, within time.Duration) bool {
	over := time.After(within)
	for {
		w.mu.Lock()
		found := strings.Contains(w.text.String(), text)
		if w.changed == nil {
			w.changed = make(chan struct{})
		}
		changed := w.changed
		w.mu.Unlock()
		if found {
			return true
		}
		select {
		case <-changed:
		case <-over:
			return false
		}
	}
}
