package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// mounted is a directory as Kubernetes mounts a ConfigMap: murmurate.yaml
// leads through the link ..data to the version in force.
type mounted struct {
	t        *testing.T
	dir      string
	versions int
}

func mount(t *testing.T, text string) *mounted {
	t.Helper()
	m := &mounted{t: t, dir: t.TempDir()}
	m.swap(text)
	if err := os.Symlink("..data/murmurate.yaml", m.file()); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *mounted) file() string { return filepath.Join(m.dir, "murmurate.yaml") }

// swap puts a new version in force in one step.
func (m *mounted) swap(text string) {
	m.t.Helper()
	m.versions++
	version := fmt.Sprintf("..version-%d", m.versions)
	link := filepath.Join(m.dir, "..data_tmp")
	for _, err := range []error{
		os.Mkdir(filepath.Join(m.dir, version), 0o700),
		os.WriteFile(filepath.Join(m.dir, version, "murmurate.yaml"), []byte(text), 0o600),
		os.Symlink(version, link),
		os.Rename(link, filepath.Join(m.dir, "..data")),
	} {
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// allowing is a policy that admits n a day for each key.
func allowing(n int) string {
	return fmt.Sprintf("policies:\n  - name: reloaded\n    limits:\n      - {algorithm: fixed_window, rate: %d/24h, align: first}\n", n)
}

// loaded keeps checking at about 1,000 a second, over the nodes in turn.
type loaded struct {
	stop    context.CancelFunc
	ended   sync.WaitGroup
	answers atomic.Int64
	limit   atomic.Int64 // that every answer must have; 0: it may be changing
}

const (
	loadWidth = 8
	loadRate  = 1000 // a second, by all together
)

func load(t *testing.T, nodes []*node) *loaded {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &loaded{stop: cancel}
	t.Cleanup(func() { cancel(); l.ended.Wait() })
	for w := range loadWidth {
		l.ended.Go(func() {
			pace := time.NewTicker(time.Second * loadWidth / loadRate)
			defer pace.Stop()
			for i := w; ; i++ {
				select {
				case <-ctx.Done():
					return
				case <-pace.C:
				}
				want := l.limit.Load()
				a, err := check(nodes[i%len(nodes)].http, fmt.Sprintf(`{"policy":"reloaded","key":"load-%d"}`, i%50))
				if err != nil {
					t.Error(err)
					return
				}
				if got := a.Header.Get("RateLimit-Limit"); want != 0 && l.limit.Load() == want && got != fmt.Sprint(want) {
					t.Errorf("limit %s, want %d", got, want)
					return
				}
				l.answers.Add(1)
			}
		})
	}
	return l
}

// end ends the load and returns how many checks were answered a second.
func (l *loaded) end(since time.Time) float64 {
	l.stop()
	l.ended.Wait()
	return float64(l.answers.Load()) / time.Since(since).Seconds()
}

// limit is the policy's limit as a check shows it, with what remains.
func limit(n *node, key string) (limit, remaining int64) {
	a := n.check(`{"policy":"reloaded","key":"` + key + `"}`)
	if _, err := fmt.Sscan(a.Header.Get("RateLimit-Limit"), &limit); err != nil {
		n.t.Fatalf("RateLimit-Limit %q: %v", a.Header.Get("RateLimit-Limit"), err)
	}
	return limit, a.Remaining
}

// TestReloadUnderLoad changes the limits of two nodes that answer about 1,000
// checks a second, by a swapped link and by a signal: none fails, and what was
// spent counts.
func TestReloadUnderLoad(t *testing.T) {
	m := mount(t, allowing(100))
	nodes := cluster(t, 2, setup{env: []string{roomy}, args: []string{"--config", m.file()}})
	for range 50 {
		nodes[0].check(`{"policy":"reloaded","key":"half"}`)
	}
	began := time.Now()
	l := load(t, nodes)
	inForce := func(want int64) {
		t.Helper()
		for _, n := range nodes {
			n.eventually(fmt.Sprintf("have the limit %d", want), func() bool {
				got, _ := limit(n, "watched")
				return got == want
			})
		}
		l.limit.Store(want)
	}
	hangup := func() {
		for _, n := range nodes {
			n.signal(syscall.SIGHUP)
		}
	}

	m.swap(allowing(1000)) // each node sees it by itself
	inForce(1000)
	for i, n := range nodes {
		if limit, remaining := limit(n, "half"); limit != 1000 || remaining != 949-int64(i) {
			t.Errorf("%s: %d of %d remain, want %d of 1000", n.name, remaining, limit, 949-i)
		}
	}

	m.swap(strings.Replace(allowing(7), "rate:", "rate_:", 1)) // changes nothing
	for _, n := range nodes {
		n.eventually("report the fault in metrics", func() bool {
			return strings.Contains(string(n.get("/metrics")), "\nmurmurate_config_last_reload_successful 0\n")
		})
		const place = "murmurate.yaml:4: policies[0].limits[0].rate_: "
		if ready := string(n.get("/readyz?verbose")); !strings.Contains(ready, `"ready":true`) || !strings.Contains(ready, place) {
			t.Errorf("%s: the fault is not in readiness: %s", n.name, ready)
		}
		n.eventually("log the fault", func() bool {
			return strings.Contains(n.said(), "line=4 setting=policies[0].limits[0].rate_")
		})
	}
	hangup()
	inForce(1000)

	l.limit.Store(0)
	m.swap(allowing(50))
	hangup()
	inForce(50)
	for _, n := range nodes {
		if a := n.check(`{"policy":"reloaded","key":"half"}`); a.Allowed || a.Remaining != 0 {
			t.Errorf("%s: allowed %t with %d remaining after 52 of 50", n.name, a.Allowed, a.Remaining)
		}
		n.eventually("report success in metrics", func() bool {
			return strings.Contains(string(n.get("/metrics")), "\nmurmurate_config_last_reload_successful 1\n")
		})
	}
	if rest := 3*time.Second - time.Since(began); rest > 0 {
		time.Sleep(rest) // the load lasts three seconds at least
	}
	t.Logf("%.0f checks/s for %v", l.end(began), time.Since(began).Round(time.Second/10))
}
