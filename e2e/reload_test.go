package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// allowing is a policy that admits n a day for each key.
func allowing(n int) string {
	return fmt.Sprintf("policies:\n  - name: reloaded\n    limits:\n      - {algorithm: fixed_window, rate: %d/24h, align: first}\n", n)
}

// config is a volume with a configuration file.
func config(text string) map[string]string { return map[string]string{"murmurate.yaml": text} }

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

// inForce waits until all nodes have the limit, which every answer has from
// then on.
func (l *loaded) inForce(t *testing.T, nodes []*node, want int64) {
	t.Helper()
	for _, n := range nodes {
		n.eventually(fmt.Sprintf("have the limit %d", want), func() bool {
			got, _ := limit(n, "watched")
			return got == want
		})
	}
	l.limit.Store(want)
}

// end ends the load and returns how many checks were answered a second.
func (l *loaded) end(since time.Time) float64 {
	l.stop()
	l.ended.Wait()
	return float64(l.answers.Load()) / time.Since(since).Seconds()
}

// reloaded is what the metrics say of the last reload.
func (n *node) reloaded() bool {
	return strings.Contains(string(n.get("/metrics")), "\nmurmurate_config_last_reload_successful 1\n")
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
	m := mount(t, config(allowing(100)))
	nodes := cluster(t, 2, setup{env: []string{roomy}, args: []string{"--config", m.file("murmurate.yaml")}})
	for range 50 {
		nodes[0].check(`{"policy":"reloaded","key":"half"}`)
	}
	began := time.Now()
	l := load(t, nodes)
	hangup := func() {
		for _, n := range nodes {
			n.signal(syscall.SIGHUP)
		}
	}

	m.swap(config(allowing(1000))) // each node sees it by itself
	l.inForce(t, nodes, 1000)
	for i, n := range nodes {
		if limit, remaining := limit(n, "half"); limit != 1000 || remaining != 949-int64(i) {
			t.Errorf("%s: %d of %d remain, want %d of 1000", n.name, remaining, limit, 949-i)
		}
	}

	m.swap(config(strings.Replace(allowing(7), "rate:", "rate_:", 1))) // changes nothing
	for _, n := range nodes {
		n.eventually("report the fault in metrics", func() bool { return !n.reloaded() })
		const place = "murmurate.yaml:4: policies[0].limits[0].rate_: "
		if ready := string(n.get("/readyz?verbose")); !strings.Contains(ready, `"ready":true`) || !strings.Contains(ready, place) {
			t.Errorf("%s: the fault is not in readiness: %s", n.name, ready)
		}
		n.eventually("log the fault", func() bool {
			return strings.Contains(n.said(), "line=4 setting=policies[0].limits[0].rate_")
		})
	}
	hangup()
	l.inForce(t, nodes, 1000)

	l.limit.Store(0)
	m.swap(config(allowing(50)))
	hangup()
	l.inForce(t, nodes, 50)
	for _, n := range nodes {
		if a := n.check(`{"policy":"reloaded","key":"half"}`); a.Allowed || a.Remaining != 0 {
			t.Errorf("%s: allowed %t with %d remaining after 52 of 50", n.name, a.Allowed, a.Remaining)
		}
		n.eventually("report success in metrics", n.reloaded)
	}
	if rest := 3*time.Second - time.Since(began); rest > 0 {
		time.Sleep(rest) // the load lasts three seconds at least
	}
	t.Logf("%.0f checks/s for %v", l.end(began), time.Since(began).Round(time.Second/10))
}
