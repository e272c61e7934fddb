package testcluster_test

import (
	"testing"
	"time"

	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

func TestThreeNodesForm(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		for i := range 101 {
			n := c.Nodes()[i%3]
			d, err := n.Check(t.Context(), policy.Request{Policy: "default", Key: "k"})
			if err != nil || d.Allowed != (i < 100) {
				t.Fatalf("call %d: %v, %+v", i+1, err, d)
			}
		}
		time.Sleep(time.Minute)
	})
}
