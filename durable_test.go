package murmurate_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// monthly is a durable quota of ten.
var monthly = policy.Policy{Name: "plan", Limits: []limiter.Limit{{
	Algorithm: limiter.Quota, Count: 10, Period: 30 * 24 * time.Hour,
	Align: limiter.AlignCalendar, Calendar: limiter.Month, Durable: true,
}}}

// patient is a deadline for machines that are busy with other things.
const patient = murmurate.MaxDeadline

// runs of a node that keeps the counters of monthly begin where the last ended.
func runs(t *testing.T) (run func(steps func(n *murmurate.Node))) {
	o := murmurate.Options{Alone: true, DataDir: t.TempDir(), Policies: policies(t, monthly), Deadline: patient}
	return func(steps func(n *murmurate.Node)) {
		node, err := murmurate.Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		steps(node)
		if err := node.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// taker takes units of monthly for one key, and judges the answer.
func taker(t *testing.T) func(n *murmurate.Node, cost int64, allowed bool, remaining int64) {
	return func(n *murmurate.Node, cost int64, allowed bool, remaining int64) {
		t.Helper()
		d, err := n.AllowN(t.Context(), "plan", "user", cost)
		if err != nil || d.Allowed != allowed || d.Remaining != remaining {
			t.Errorf("%d units: allowed %t, %d left, %v; want %t, %d", cost, d.Allowed, d.Remaining, err, allowed, remaining)
		}
	}
}

// A quota goes on where it was, whatever became of the node.
func TestQuotaOutlivesTheNode(t *testing.T) {
	t.Parallel()
	run, take := runs(t), taker(t)
	run(func(n *murmurate.Node) { take(n, 6, true, 4) })
	run(func(n *murmurate.Node) {
		take(n, 5, false, 4)
		take(n, 4, true, 0)
	})
	run(func(n *murmurate.Node) {
		take(n, 1, false, 0)
		if _, err := n.Reset(t.Context(), "plan", "user"); err != nil {
			t.Error(err)
		}
	})
	run(func(n *murmurate.Node) { take(n, 1, true, 9) })
}

// What an override admits is on disk as well, and of the same quota: also of an
// override that does not say so, as those of Go and of earlier versions.
func TestOverrideOfAQuotaOutlivesTheNode(t *testing.T) {
	t.Parallel()
	run, take := runs(t), taker(t)
	more := monthly.Limits[0]
	more.Count, more.Durable = 50, false
	run(func(n *murmurate.Node) {
		take(n, 6, true, 4)
		if _, err := n.SetOverride("plan", "user", policy.Override{Limits: []limiter.Limit{more}}, 0); err != nil {
			t.Fatal(err)
		}
		take(n, 40, true, 4)
	})
	run(func(n *murmurate.Node) {
		take(n, 5, false, 4)
		take(n, 2, true, 2)
		if _, err := n.RemoveOverride("plan", "user"); err != nil {
			t.Fatal(err)
		}
		take(n, 1, false, 0)
	})
	run(func(n *murmurate.Node) { take(n, 1, false, 0) })
}

// A node without a place for it does not pretend.
func TestDurableLimitNeedsADataDir(t *testing.T) {
	t.Parallel()
	set := policies(t, monthly)
	want := `limit plan is durable, which needs DataDir: set it, or Durable to false if the counter may be lost with the node`
	if _, err := murmurate.Start(t.Context(), murmurate.Options{Alone: true, Policies: set}); err == nil || err.Error() != "Policies: "+want {
		t.Errorf("got %v, want %s", err, want)
	}
	node := start(t, murmurate.Options{Alone: true})
	if err := node.SetPolicies(set); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if d, err := node.Allow(t.Context(), "default", "user"); err != nil || !d.Allowed {
		t.Errorf("the policies before: %+v, %v", d, err)
	}
}

// An asker has the policy, and the owner no place for the counter: the
// failure mode decides, and the local share is nothing.
func TestDurableLimitWhoseOwnerKeepsNothing(t *testing.T) {
	t.Parallel()
	owner := start(t, murmurate.Options{Name: "owner", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0"})
	client := start(t, murmurate.Options{
		Name: "client", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0", Role: cluster.RoleClient,
		Join: []string{owner.GossipAddr().String()}, Policies: policies(t, monthly), Deadline: patient,
	})
	eventually(t, "the client to reach the owner", func() bool { return client.Readiness().Ready })
	d, err := client.Allow(t.Context(), "plan", "user")
	if d.Allowed || !errors.Is(err, cluster.ErrNotKept) {
		t.Errorf("%+v, %v", d, err)
	}
}
