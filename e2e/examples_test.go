package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// example builds a program of examples/ and returns its path.
func example(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	binary := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("go", "build", "-o", binary, "../examples/"+name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

var serving = regexp.MustCompile(`^serving on (\S+), gossip on (\S+)`)

// instance starts one instance of the example service and returns where it
// serves and gossips, and a function that ends it as a deployment would.
func instance(t *testing.T, binary string, args ...string) (address, gossip string, end func()) {
	t.Helper()
	args = append([]string{"-listen", "127.0.0.1:0", "-gossip", "127.0.0.1:0", "-peer", "127.0.0.1:0"}, args...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("it said nothing: %v", cmd.Wait())
	}
	found := serving.FindStringSubmatch(lines.Text())
	if found == nil {
		t.Fatalf("it said %q", lines.Text())
	}
	return found[1], found[2], func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	}
}

// Three instances of a service with the middleware admit together what the
// limit says, and say so in the headers.
func TestExampleServiceLimitsOverItsInstances(t *testing.T) {
	t.Parallel()
	binary := example(t, "service")
	var addresses []string
	join := ""
	for i := range 3 {
		args := []string{"-name", fmt.Sprint("i", i+1), "-rate", "100/day"}
		if join != "" {
			args = append(args, "-join", join)
		}
		address, gossip, end := instance(t, binary, args...)
		defer end()
		addresses = append(addresses, address)
		if join == "" {
			join = gossip
		}
	}
	for _, address := range addresses {
		eventually(t, "instance "+address+" to be ready", func() bool {
			answer, err := http.Get("http://" + address + "/healthz")
			return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
		})
	}
	var admitted, denied, odd atomic.Int64
	inParallel(600, 16, func(i int) {
		r, err := http.NewRequest(http.MethodGet, "http://"+addresses[i%3]+"/hello", nil)
		if err != nil {
			t.Error(err)
			return
		}
		r.Header.Set("X-Api-Key", "alice")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		if len(answer.Header.Values("RateLimit")) != 1 {
			odd.Add(1)
		}
		switch {
		case answer.StatusCode == http.StatusOK:
			admitted.Add(1)
		case answer.StatusCode == http.StatusTooManyRequests && answer.Header.Get("Retry-After") != "":
			denied.Add(1)
		default:
			odd.Add(1)
		}
	})
	if admitted.Load() != 100 || denied.Load() != 500 || odd.Load() != 0 {
		t.Errorf("admitted %d, denied %d, odd %d; want 100, 500, 0", admitted.Load(), denied.Load(), odd.Load())
	}
}

func TestExampleWorkerKeepsToTheRate(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(example(t, "worker"), "-messages", "21", "-rate", "20/s").CombinedOutput()
	var sent int
	var seconds float64
	if _, scanErr := fmt.Sscanf(string(out), "sent %d messages in %f s", &sent, &seconds); err != nil || scanErr != nil || sent != 21 {
		t.Fatalf("%v, %v: %s", err, scanErr, out)
	}
	if seconds < 1 {
		t.Errorf("21 messages at 20 a second took %.1f s", seconds)
	}
}

func TestExampleNodeScriptWaitsAsTold(t *testing.T) {
	t.Parallel()
	nodejs, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("node is missing")
		}
		t.Skip("needs Node.js")
	}
	n := start(t, setup{name: "n1"})
	out, err := exec.Command(nodejs, "../examples/nodejs/check.mjs", "http://"+n.http, "12").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if said := string(out); strings.Count(said, ": allowed, ") != 12 || !strings.Contains(said, "denied, waiting") {
		t.Errorf("it said:\n%s", said)
	}
}

// The README shows the quickstart whole, and it is the program that runs.
func TestReadmeShowsTheQuickstart(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../examples/quickstart/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(source), "\npackage main\n")
	if !strings.Contains(string(readme), "```go\npackage main\n"+program+"```\n") {
		t.Error("README.md does not show examples/quickstart/main.go as it is")
	}
}
