package testcluster_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/internal/leak"
	"github.com/murmurate/murmurate/internal/race"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

func TestMain(m *testing.M) { leak.Main(m) }

// virtual marks a test that runs in a bubble.
func virtual(t *testing.T) {
	t.Helper()
	if race.Enabled {
		t.Skip("the race detector has been seen to crash in bubbles with many timers; tests on real time and on loopback run with it")
	}
	t.Parallel()
}

// inBubble runs test in a bubble with a cluster without nodes.
func inBubble(t *testing.T, o testcluster.Options, test func(t *testing.T, c *testcluster.Cluster)) {
	t.Helper()
	virtual(t)
	synctest.Test(t, func(t *testing.T) { test(t, testcluster.New(t, o)) })
}

// running runs test in a bubble with a cluster of n1 to nN.
func running(t *testing.T, size int, test func(t *testing.T, c *testcluster.Cluster), policies ...policy.Policy) {
	t.Helper()
	virtual(t)
	testcluster.Run(t, size, test, policies...)
}

// window is how long what was spent under the policy of limited stays spent.
const window = 10 * time.Minute

// limited is a policy "api" of count for each key in a window, which begins
// with the key's first request.
func limited(count int64) policy.Policy {
	return policy.Policy{Name: "api", Limits: []limiter.Limit{
		{Algorithm: limiter.FixedWindow, Count: count, Period: window, Align: limiter.AlignFirst},
	}}
}

func ask(t *testing.T, n *testcluster.Node, key string) policy.Decision {
	t.Helper()
	start := time.Now()
	d, err := n.Check(t.Context(), policy.Request{Policy: "api", Key: key})
	if (err == nil) != (d.Source == limiter.SourceOwner) || time.Since(start) > 50*time.Millisecond {
		t.Fatalf("%s, after %v: %v, %+v", n.Name(), time.Since(start), err, d)
	}
	return d
}

// keyOf returns a key that the named node owns, as n sees it.
func keyOf(t *testing.T, n *testcluster.Node, owner string) string {
	t.Helper()
	for i := range 10_000 {
		key := fmt.Sprint("key-", i)
		if got, err := n.OwnerOf("api", key); err == nil && got == owner {
			return key
		}
	}
	t.Fatalf("%s says that %s owns nothing", n.Name(), owner)
	return ""
}

// crowd has every node ask for key in parallel, and returns how often it was
// admitted.
func crowd(t *testing.T, nodes []*testcluster.Node, key string, calls int) int64 {
	t.Helper()
	var admitted atomic.Int64
	var asking sync.WaitGroup
	for i := range calls {
		asking.Go(func() {
			d, err := nodes[i%len(nodes)].Check(t.Context(), policy.Request{Policy: "api", Key: key})
			if err != nil {
				t.Error(err)
			}
			if d.Allowed {
				admitted.Add(1)
			}
		})
	}
	asking.Wait()
	return admitted.Load()
}
