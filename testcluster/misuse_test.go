package testcluster_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/testcluster"
)

// failing is a test that is expected to end by Fatal.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Fatal(args ...any) {
	f.said = fmt.Sprint(args...)
	runtime.Goexit()
}

func (f *failing) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

func TestWhatCannotBeDoneEndsTheTest(t *testing.T) {
	virtual(t)
	for name, tc := range map[string]struct {
		do   func(c *testcluster.Cluster)
		said string
	}{
		"a wait in vain": {
			func(c *testcluster.Cluster) { c.Await(time.Minute, "nothing", func() bool { return false }) },
			"waited 1m0s for nothing",
		},
		"a start that fails":  {func(c *testcluster.Cluster) { c.Start("no good", testcluster.NodeOptions{}) }, `node "no good": `},
		"a stranger killed":   {func(c *testcluster.Cluster) { c.Kill("n2") }, `no node "n2" is running`},
		"killed twice":        {func(c *testcluster.Cluster) { c.Kill("n1"); c.Kill("n1") }, `no node "n1" is running`},
		"a stranger restarts": {func(c *testcluster.Cluster) { c.Restart("n2") }, `no node "n2" was ever started`},
		"a stranger cut off":  {func(c *testcluster.Cluster) { c.Cut([]string{"n1"}, []string{"n2"}) }, `no node "n2" was ever started`},
		"a dead one paused":   {func(c *testcluster.Cluster) { c.Kill("n1"); c.Pause("n1") }, `no node "n1" is running`},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, testcluster.Options{}, func(t *testing.T, _ *testcluster.Cluster) {
				f := &failing{TB: t}
				c := testcluster.New(f, testcluster.Options{})
				c.Start("n1", testcluster.NodeOptions{})
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					tc.do(c)
				}()
				<-ended
				if !strings.Contains(f.said, tc.said) {
					t.Errorf("it says %q, want %q", f.said, tc.said)
				}
			})
		})
	}
}
