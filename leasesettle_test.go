package murmurate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// What is acquired at an estimate is settled by its receipt, over several
// policies and owners, and its slots are released by the lease.
func TestWhatWasAcquiredIsSettled(t *testing.T) {
	t.Parallel()
	slots, jobs := atOnce("slots", 2), named("jobs", hourly(100))
	slots.Match.Path, jobs.Match.Path = "/job", "/job"
	slots.Limits[0].Name = "at-once"
	slots.Limits = append(slots.Limits, hourly(1000).WithName("hour"))
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		for i := range 9 {
			user := fmt.Sprint("user", i)
			node, other := c.Nodes()[i%3].Node, c.Nodes()[(i+1)%3].Node
			for _, row := range []struct {
				free           bool
				units, settled int64 // that are left of 100, at first and then
			}{
				{false, 90, 70},
				{true, 70, 40}, // nothing before it is settled
			} {
				r := policy.Request{DefaultKey: user, Attributes: visitor{path: "/job"}, Cost: 10, Receipt: true, Peek: row.free}
				lease, d, err := node.Acquire(t.Context(), r)
				if err != nil || lease == nil || d.Receipt == "" {
					t.Fatalf("%+v, %v", d, err)
				}
				if jobs, slots := left(t, other, "jobs", user), look(t, other, "slots", user); jobs != row.units || slots[0] != 1 || slots[1] != 900+row.units {
					t.Errorf("%s acquired: %d units, %v left", user, jobs, slots)
				}
				for range 2 { // once for each receipt
					if d, err := other.Settle(t.Context(), d.Receipt, 30); err != nil || len(d.Limits) != 2 {
						t.Errorf("%s: %+v, %v; want the two limits that have units", user, d, err)
					}
				}
				release(t, lease)
				if jobs, slots := left(t, node, "jobs", user), look(t, node, "slots", user); jobs != row.settled || slots[0] != 2 || slots[1] != 900+row.settled {
					t.Errorf("%s is done: %d units, %v left", user, jobs, slots)
				}
			}
		}
	}, slots, jobs)
}

// look is what each limit of a policy has left for a key.
func look(t *testing.T, node *murmurate.Node, policyName, key string) (left []int64) {
	t.Helper()
	d, err := node.Peek(t.Context(), policyName, key)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Limits {
		left = append(left, d.Limits[i].Remaining)
	}
	return left
}

// Of a policy with slots alone there is nothing to settle.
func TestSlotsAloneAreNotSettled(t *testing.T) {
	t.Parallel()
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		r := of("api", "k")
		r.Receipt = true
		lease, d, err := n.Acquire(t.Context(), r)
		if err != nil || lease == nil {
			t.Fatalf("%+v, %v", d, err)
		}
		if d, err := n.Settle(t.Context(), d.Receipt, 5); err != nil || d.Source != limiter.SourceNone || free(t, n, "api", "k") != 0 {
			t.Errorf("%+v, %v, %d free", d, err, free(t, n, "api", "k"))
		}
		if _, err := n.Renew(t.Context(), d.Receipt, 0); !errors.Is(err, policy.ErrInput) || !strings.Contains(err.Error(), "lease") {
			t.Errorf("a receipt is no lease: %v", err)
		}
		if _, err := n.Settle(t.Context(), lease.Token(), 5); !errors.Is(err, policy.ErrInput) || !strings.Contains(err.Error(), "receipt") {
			t.Errorf("a lease is no receipt: %v", err)
		}
		release(t, lease)
	}, atOnce("api", 1))
}

// What a durable quota is settled at outlives the node, if it is more than was
// estimated. What was given back may count as spent, and never the other way.
func TestSettledQuotaOutlivesTheNode(t *testing.T) {
	t.Parallel()
	o := murmurate.Options{Alone: true, DataDir: t.TempDir(), Policies: policies(t, monthly)}
	run := func(steps func(n *murmurate.Node)) {
		node, err := murmurate.Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		steps(node)
		if err := node.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	given := ""
	run(func(n *murmurate.Node) {
		given = estimated(t, n, policy.Request{Policy: "plan", Key: "user", Cost: 2})
		if got := settled(t, n, given, 7); got != 3 {
			t.Errorf("%d left, want 3", got)
		}
	})
	run(func(n *murmurate.Node) {
		if got := left(t, n, "plan", "user"); got != 3 {
			t.Errorf("%d left after a restart, want 3", got)
		}
		d, err := n.Settle(t.Context(), estimated(t, n, policy.Request{Policy: "plan", Key: "user", Cost: 3}), 1)
		if err != nil || d.Remaining != 2 || d.Limits[0].Unit != limiter.Requests {
			t.Errorf("%+v, %v", d, err)
		}
	})
	run(func(n *murmurate.Node) {
		if got := left(t, n, "plan", "user"); got > 2 {
			t.Errorf("%d left after another restart, want 2 at most", got)
		}
	})
}
