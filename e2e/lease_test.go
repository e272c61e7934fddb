package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// holderJoins is the variable that makes this program a holder, and says whom
// its node joins.
const holderJoins = "MURMURATE_TEST_HOLDER_JOINS"

// hasSlot is what a holder says once it has its slot.
const hasSlot = "has its slot"

// holdSlot takes the one slot there is, says so, and holds it until it is
// killed.
func holdSlot(seed string) int {
	ctx := context.Background()
	set, err := policy.NewSet(policy.Policy{Name: "uploads", Limits: []limiter.Limit{
		{Algorithm: limiter.Concurrency, Count: 1, Period: 3 * time.Second}}})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	n, err := murmurate.Start(ctx, murmurate.Options{
		Name: "holder", Role: "client", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0",
		Join: []string{seed}, Policies: set, Deadline: 5 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if _, _, err := n.WaitAcquire(ctx, policy.Request{Policy: "uploads", Key: "k"}); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(hasSlot)
	<-make(chan struct{})
	return 0
}

// post sends a call about leases, and returns its status and answer.
func (n *node) post(path, body string) (status int, answer map[string]any) {
	n.t.Helper()
	resp, err := client.Post("http://"+n.http+path, "application/json", strings.NewReader(body))
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		n.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// oneSlot are two nodes with a policy of one slot.
func oneSlot(t *testing.T) []*node {
	t.Helper()
	file := filepath.Join(t.TempDir(), "murmurate.yaml")
	const text = "cluster: {deadline: 5s}\npolicies: [{name: uploads, limits: [{algorithm: concurrency, count: 1, ttl: 3s}]}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return cluster(t, 2, setup{args: []string{"--config", file}})
}

const uploadOfK = `{"policy":"uploads","key":"k"}`

// A holder that lives keeps its slot for longer than the TTL, and one that is
// killed gives it back by that.
func TestKilledHolder(t *testing.T) {
	t.Parallel()
	nodes := oneSlot(t)
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), holderJoins+"="+nodes[0].gossip)
	said, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holder.Process.Kill() })
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil || strings.TrimSpace(line) != hasSlot {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		if status, answer := nodes[1].post("/v1/acquire", uploadOfK); status != 429 {
			t.Fatalf("beside the holder: status %d, %v", status, answer)
		}
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // which says that it was killed
	eventually(t, "the slot to be free", func() bool {
		status, _ := nodes[1].post("/v1/acquire", uploadOfK)
		return status == 200
	})
}

// A lease that one node gave is renewed and released at another.
func TestLeaseOverHTTP(t *testing.T) {
	t.Parallel()
	nodes := oneSlot(t)
	status, got := nodes[0].post("/v1/acquire", uploadOfK)
	token, _ := got["lease"].(string)
	if status != 200 || token == "" || got["expires_in_ms"] != 3000.0 || got["remaining"] != 0.0 {
		t.Fatalf("acquired: status %d, %v", status, got)
	}
	lease := fmt.Sprintf(`{"lease":%q}`, token)
	if status, answer := nodes[1].post("/v1/renew", lease); status != 200 || answer["lease"] != token {
		t.Errorf("renewed: status %d, %v", status, answer)
	}
	for range 2 {
		if status, answer := nodes[1].post("/v1/release", lease); status != 200 || answer["released"] != true {
			t.Errorf("released: status %d, %v", status, answer)
		}
	}
	if status, answer := nodes[0].post("/v1/renew", lease); status != 410 {
		t.Errorf("renewed after the release: status %d, %v", status, answer)
	}
	if status, answer := nodes[0].post("/v1/release", `{"lease":"`+token[:len(token)-2]+`aa"}`); status != 400 {
		t.Errorf("a forged lease: status %d, %v", status, answer)
	}
	if status, answer := nodes[1].post("/v1/acquire", uploadOfK); status != 200 {
		t.Errorf("acquired again: status %d, %v", status, answer)
	}
}
