package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// put sets an override for key on n.
func (n *node) put(key, override string) {
	n.t.Helper()
	req, err := http.NewRequestWithContext(n.t.Context(), http.MethodPut, "http://"+n.http+"/v1/overrides/reloaded/"+key, strings.NewReader(override))
	if err != nil {
		n.t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		n.t.Fatalf("%s: %d %s", override, resp.StatusCode, text)
	}
}

// denies reports whether n denies key.
func (n *node) denies(key string) bool {
	n.t.Helper()
	return !n.check(fmt.Sprintf(`{"policy":"reloaded","key":%q}`, key)).Allowed
}

// An override that is set on one node holds on all within a second, after each
// was started anew, after all were killed at once, and after its expiry no
// more.
func TestOverridesHoldOnEveryNode(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "murmurate.yaml")
	if err := os.WriteFile(file, []byte(allowing(100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	first := freeAddr(t)
	var setups []setup
	for i := range 3 {
		gossip := first
		if i > 0 {
			gossip = freeAddr(t)
		}
		setups = append(setups, setup{name: fmt.Sprintf("n%d", i+1), args: []string{
			"--config", file, "--data-dir", t.TempDir(), "--gossip", gossip, "--join", first,
		}})
	}
	nodes := make([]*node, len(setups))
	begin := func(which ...int) {
		for _, i := range which {
			nodes[i] = start(t, setups[i])
		}
		for _, n := range nodes {
			n.await(n.ready, "become ready")
			n.eventually("see three active members", func() bool { return n.active() == 3 })
		}
	}
	begin(0, 1, 2)
	nodes[0].put("leaked", `{"blocked":true}`)
	const life = 20 * time.Second
	nodes[0].put("brief", fmt.Sprintf(`{"blocked":true,"expires_in":"%v"}`, life))
	set := time.Now()
	for _, n := range nodes {
		for !n.denies("leaked") || !n.denies("brief") {
			if time.Since(set) > patience {
				t.Fatalf("%s has not heard of the overrides", n.name)
			}
		}
	}
	if took := time.Since(set); took > time.Second {
		t.Logf("it took %v until all had heard: this machine is busy", took)
	}
	hold := func(when string) {
		t.Helper()
		for _, n := range nodes {
			if !n.denies("leaked") || n.denies("somebody else") {
				t.Errorf("%s: not on %s", when, n.name)
			}
		}
	}
	for i := range nodes {
		nodes[i].signal(syscall.SIGTERM)
		nodes[i].end()
		begin(i)
		hold("after a restart of " + nodes[i].name)
	}
	for _, n := range nodes {
		n.signal(syscall.SIGKILL)
	}
	for _, n := range nodes {
		n.end()
	}
	begin(0, 1, 2)
	hold("after all were killed")
	if left := life - time.Since(set); left > 0 {
		time.Sleep(left) // its expiry is what is waited for
	}
	for _, n := range nodes { // what travelled between them has cost some milliseconds
		n.eventually("end what has expired", func() bool { return !n.denies("brief") })
	}
	hold("in the end")
}
