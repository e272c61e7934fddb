package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// planned has one durable quota, of which a thousandth is reserved ahead.
const (
	planned = `policies:
  - name: plan
    limits: [{algorithm: quota, rate: 50000/year}]
`
	plannedLimit = 50_000
	plannedChunk = plannedLimit / 1000
)

// spent is what clients know of a quota's use.
type spent struct {
	admitted atomic.Int64 // for sure
	unsure   atomic.Int64 // the answer did not come
}

// spend checks key at the nodes in turn, with some workers at a time, until
// the returned function is called.
func (s *spent) spend(nodes []*node, key string) (stop func()) {
	done := make(chan struct{})
	var work sync.WaitGroup
	body := fmt.Sprintf(`{"policy":"plan","key":%q}`, key)
	for w := range 8 {
		work.Go(func() {
			for i := w; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				switch a, err := check(nodes[i%len(nodes)].http, body); {
				case err != nil:
					s.unsure.Add(1)
				case a.Allowed:
					s.admitted.Add(1)
				}
			}
		})
	}
	return func() { close(done); work.Wait() }
}

// used is what the quota has counted for key.
func used(n *node, key string) int64 {
	n.t.Helper()
	var d struct {
		Remaining int64
		Source    string
	}
	n.eventually("count "+key, func() bool {
		return json.Unmarshal(n.get("/v1/keys/plan/"+key), &d) == nil && d.Source == "owner"
	})
	return plannedLimit - d.Remaining
}

// within checks that counted is what was admitted: never less, and more by no
// more than the answers that were lost and a chunk for each crash.
func (s *spent) within(t *testing.T, counted, crashes int64) {
	t.Helper()
	least := s.admitted.Load()
	if most := least + s.unsure.Load() + crashes*plannedChunk; counted < least || counted > most {
		t.Errorf("after %d crashes %d are counted, want %d to %d", crashes, counted, least, most)
	}
}

// killed is a cluster that is killed at one time, again and again.
func killed(t *testing.T, size, times int) {
	file := filepath.Join(t.TempDir(), "murmurate.yaml")
	if err := os.WriteFile(file, []byte(planned), 0o600); err != nil {
		t.Fatal(err)
	}
	setups := make([]setup, size)
	first := freeAddr(t)
	for i := range setups {
		gossip := first
		if i > 0 {
			gossip = freeAddr(t)
		}
		setups[i] = setup{name: fmt.Sprintf("n%d", i+1), args: []string{
			"--config", file, "--data-dir", t.TempDir(), "--gossip", gossip, "--join", first,
		}}
	}
	keys := []string{"a", "b", "c"}
	uses := make([]spent, len(keys))
	var nodes []*node
	begin := func() {
		nodes = nil
		for _, s := range setups {
			nodes = append(nodes, start(t, s))
		}
		for _, n := range nodes {
			n.await(n.ready, "become ready")
			n.eventually("see all", func() bool { return n.active() == size })
		}
	}
	begin()
	for crash := range times {
		var stops []func()
		for i, key := range keys {
			stops = append(stops, uses[i].spend(nodes, key))
		}
		time.Sleep(time.Duration(20+rand.IntN(200)) * time.Millisecond) // the instant is what is random here
		for _, n := range nodes {
			n.signal(syscall.SIGKILL)
		}
		for _, stop := range stops {
			stop()
		}
		for _, n := range nodes {
			n.end()
		}
		begin()
		for i, key := range keys {
			uses[i].within(t, used(nodes[0], key), int64(crash)+1)
		}
	}
	t.Logf("%d crashes; admitted %d, %d, %d; answers lost %d", times,
		uses[0].admitted.Load(), uses[1].admitted.Load(), uses[2].admitted.Load(),
		uses[0].unsure.Load()+uses[1].unsure.Load()+uses[2].unsure.Load())
}

// A quota never starts afresh because a process was killed, at whatever
// moment.
func TestKilledNodeKeepsItsQuotas(t *testing.T) {
	t.Parallel()
	killed(t, 1, 5)
}

func TestKilledClusterKeepsItsQuotas(t *testing.T) {
	t.Parallel()
	killed(t, 3, 2)
}

func TestLongKilledNodeKeepsItsQuotas(t *testing.T) {
	long(t)
	killed(t, 1, 100)
}

func TestLongKilledClusterKeepsItsQuotas(t *testing.T) {
	long(t)
	killed(t, 3, 20)
}
