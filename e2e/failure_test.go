package e2e

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestKilledOwner: the checks go on over the survivors, each decided in
// time, and those of the dead node's keys say that they are shares.
func TestKilledOwner(t *testing.T) {
	t.Parallel()
	nodes := cluster(t, 3, steady(t))
	killed, survivors := nodes[2], nodes[:2]
	body := func(i int) string {
		return fmt.Sprintf(`{"key":"user-%d","limit":{"algorithm":"token_bucket","rate":"300/1h"}}`, i%100)
	}
	var failed, shares, owners atomic.Int64
	run := func(n int) {
		inParallel(n, 8, func(i int) {
			a, err := check(survivors[i%2].http, body(i))
			if err != nil {
				failed.Add(1)
				t.Error(err)
				return
			}
			switch a.Source {
			case "share":
				shares.Add(1)
			case "owner":
				owners.Add(1)
			default:
				t.Errorf("source %q", a.Source)
			}
		})
	}
	run(200)
	if shares.Load() != 0 {
		t.Errorf("%d shares while all nodes live", shares.Load())
	}
	killed.signal(syscall.SIGKILL)
	killed.end()
	run(1000)
	if failed.Load() != 0 || shares.Load() == 0 || owners.Load() == 0 {
		t.Errorf("%d failed; %d decided by shares, %d by owners", failed.Load(), shares.Load(), owners.Load())
	}
	said := survivors[0].said() + survivors[1].said()
	if !strings.Contains(said, "owner out of reach") || !strings.Contains(said, "owner=n3") {
		t.Error("no log line says that n3 is out of reach")
	}
	for _, n := range survivors {
		if !metric(n, `source="share"`) || !metric(n, `murmurate_forward_calls_total{result="unreachable"}`) {
			t.Errorf("the metrics of %s do not show the shares", n.name)
		}
		if ready := string(n.get("/readyz?verbose")); !strings.Contains(ready, "n3") {
			t.Errorf("%s is silent about n3 in readiness: %s", n.name, ready)
		}
	}
	admitted := 0
	for range 400 {
		for _, n := range survivors {
			if n.check(`{"key":"` + ownedBy(t, survivors[0], "n3") + `","policy":"steady"}`).Allowed {
				admitted++
			}
		}
	}
	if admitted != 2*(100/3) {
		t.Errorf("two survivors admitted %d of a dead owner's key, want their shares, 33 each", admitted)
	}
}

// steady is a configuration with a policy whose numbers do not depend on the
// time of day: 100 from the first call on.
func steady(t *testing.T) setup {
	t.Helper()
	file := filepath.Join(t.TempDir(), "murmurate.yaml")
	const text = "policies: [{name: steady, limits: [{algorithm: fixed_window, rate: 100/24h, align: first}]}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return setup{args: []string{"--config", file}}
}

// ownedBy finds a key of the policy steady that the given node owns.
func ownedBy(t *testing.T, asked *node, owner string) string {
	t.Helper()
	for i := range 1000 {
		key := fmt.Sprintf("of-%d", i)
		if asked.statusOf("?policy=steady&key="+key).Owner == owner {
			return key
		}
	}
	t.Fatalf("%s owns none of 1,000 keys", owner)
	return ""
}

// metric reports whether a series whose line contains part is above zero.
func metric(n *node, part string) bool {
	for line := range strings.Lines(string(n.get("/metrics"))) {
		if strings.Contains(line, part) && !strings.HasSuffix(strings.TrimSpace(line), " 0") {
			return true
		}
	}
	return false
}

// TestNodeBeforeItsPeers: it serves alone, says so, and joins by itself.
func TestNodeBeforeItsPeers(t *testing.T) {
	t.Parallel()
	later := freeAddr(t)
	early := start(t, setup{name: "early", args: []string{"--join", later}})
	early.await(early.ready, "serve alone")
	if ready := string(early.get("/readyz")); !strings.Contains(ready, "alone") {
		t.Errorf("readiness does not say alone: %s", ready)
	}
	if a := early.check(`{"policy":"default","key":"k"}`); !a.Allowed || a.Source != "owner" {
		t.Errorf("the lone node answered %+v", a)
	}
	peer := start(t, setup{name: "late", args: []string{"--gossip", later}})
	peer.eventually("be joined", func() bool { return peer.active() == 2 })
	early.eventually("join", func() bool {
		return early.active() == 2 && !strings.Contains(string(early.get("/readyz")), "alone")
	})
}

// TestStrangersStayOut: a node with another secret, label or identity key
// never becomes a member, and says so.
func TestStrangersStayOut(t *testing.T) {
	t.Parallel()
	env := func(secret, label, key string) []string {
		return []string{
			"MURMURATE_CLUSTER_SECRET=" + secret, "MURMURATE_CLUSTER_LABEL=" + label,
			"MURMURATE_CLUSTER_IDENTITY_KEY=" + key,
		}
	}
	const secret, label, key = "a secret of this test's cluster", "blue", "an identity key of the cluster"
	home := start(t, setup{name: "home", env: env(secret, label, key)})
	home.await(home.ready, "become ready")
	for name, strange := range map[string][]string{
		"secret":   env("a secret of some other cluster!", label, key),
		"label":    env(secret, "green", key),
		"identity": env(secret, label, "another identity key than theirs"),
		"none":     {"MURMURATE_CLUSTER_LABEL=" + label},
	} {
		t.Run(name, func(t *testing.T) {
			stranger := start(t, setup{name: "stranger-" + name, env: strange, args: []string{"--join", home.gossip}})
			stranger.await(stranger.ready, "serve alone")
			ready := string(stranger.get("/readyz?verbose"))
			if !strings.Contains(ready, "alone") {
				t.Errorf("readiness does not say alone: %s", ready)
			}
			if got := len(stranger.status().Members); got != 1 {
				t.Errorf("the stranger sees %d members", got)
			}
			if got := len(home.status().Members); got != 1 {
				t.Errorf("home sees %d members", got)
			}
			if !strings.Contains(stranger.said(), "WARN") {
				t.Errorf("the stranger does not say why it is alone:\n%s", stranger.said())
			}
		})
	}
	if !strings.Contains(home.said(), "WARN") {
		t.Errorf("home does not say who was turned away:\n%s", home.said())
	}
	friend := start(t, setup{name: "friend", env: env(secret, label, key), args: []string{"--join", home.gossip}})
	friend.eventually("join", func() bool { return friend.active() == 2 })
	if a := friend.check(`{"policy":"default","key":"k"}`); a.Source != "owner" {
		t.Errorf("a check over mutual TLS came from %q", a.Source)
	}
}

// TestNoiseOnThePorts: random bytes on the gossip and peer ports change
// nothing.
func TestNoiseOnThePorts(t *testing.T) {
	t.Parallel()
	nodes := cluster(t, 2, setup{})
	noise := make([]byte, 4096)
	for i := range 200 {
		_, _ = rand.Read(noise)
		network, addr := "tcp", nodes[0].peer
		switch i % 3 {
		case 1:
			addr = nodes[0].gossip
		case 2:
			network, addr = "udp", nodes[0].gossip
		}
		conn, err := net.DialTimeout(network, addr, patience)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = conn.Write(noise[:1+i*7%1400]) // a refusal is as good as an answer
		_ = conn.Close()
	}
	for i, n := range nodes {
		if n.active() != 2 {
			t.Errorf("%s sees %d members", n.name, n.active())
		}
		a := n.check(fmt.Sprintf(`{"policy":"default","key":"after-noise-%d"}`, i))
		if a.Source != "owner" {
			t.Errorf("%s: source %q", n.name, a.Source)
		}
	}
}

// TestTermination: a node that is told to end leaves the ring while all are
// under load. No check fails, neither on the others nor on the leaving one
// for as long as it takes connections.
func TestTermination(t *testing.T) {
	t.Parallel()
	nodes := cluster(t, 3, setup{env: []string{roomy}})
	leaving := nodes[2]
	var loads sync.WaitGroup
	ended := make(chan struct{})
	var checks atomic.Int64
	ask := func(n *node, i int) error {
		a, err := check(n.http, fmt.Sprintf(`{"policy":"default","key":"%s-%d"}`, n.name, i))
		if err == nil && a.Source != "owner" {
			t.Errorf("%s: source %q while a node was leaving", n.name, a.Source)
		}
		checks.Add(1)
		return err
	}
	for _, n := range nodes[:2] {
		loads.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				default:
				}
				if err := ask(n, i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	loads.Go(func() {
		for i := 0; ; i++ {
			err := ask(leaving, i)
			if errors.Is(err, syscall.ECONNREFUSED) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	leaving.eventually("be under load", func() bool { return checks.Load() > 300 })
	leaving.signal(syscall.SIGTERM)
	if code := leaving.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, n := range nodes[:2] {
		n.eventually("see it gone", func() bool { return len(n.status().Members) == 2 })
	}
	close(ended)
	loads.Wait()
}
