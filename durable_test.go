package murmurate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// What a settlement gives back is not spent after a restart.
func TestRefundOfAQuotaOutlivesTheNode(t *testing.T) {
	t.Parallel()
	run, take := runs(t), taker(t)
	run(func(n *murmurate.Node) {
		receipt := estimated(t, n, policy.Request{Policy: "plan", Key: "user", Cost: 9})
		if left := settled(t, n, receipt, 2); left != 8 {
			t.Errorf("%d left", left)
		}
	})
	run(func(n *murmurate.Node) { take(n, 8, true, 0) })
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

// A data directory that is taken away is a condition of readiness, and no reason
// to take the node away as well.
func TestDataDirThatIsTakenAway(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	node := start(t, murmurate.Options{Alone: true, DataDir: dir})
	kept := func() (ready, ok bool, detail string) {
		r := node.Readiness()
		for _, c := range r.Conditions {
			if c.Name == "data_dir" {
				return r.Ready, c.OK, c.Detail
			}
		}
		t.Fatalf("no such condition in %+v", r)
		return
	}
	if ready, ok, detail := kept(); !ready || !ok || detail != "" {
		t.Errorf("at first: ready %t, ok %t, %s", ready, ok, detail)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node to miss its directory", func() bool { _, ok, _ := kept(); return !ok })
	if ready, _, detail := kept(); !ready || !strings.Contains(detail, dir) {
		t.Errorf("then: ready %t, %s", ready, detail)
	}
	if c := start(t, murmurate.Options{Alone: true}).Readiness().Conditions; len(c) > 0 {
		t.Errorf("a node without a directory says %+v", c)
	}
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

// An asker has the policies, and the owner no place for the counter, or is gone:
// nobody has a share of a durable limit, so local denies as deny does, and a quota
// that nobody looked at is not called used up.
func TestDurableLimitThatNobodyCounts(t *testing.T) {
	t.Parallel()
	rated, kept, forgetful := monthly, monthly, monthly
	rated.Name, rated.Limits = "rated", []limiter.Limit{limiter.PerSecond(100).WithName("second"), monthly.Limits[0].WithName("month")}
	kept.Name, kept.OnUnreachable = "kept", policy.Deny
	forgetful.Name, forgetful.Limits = "forgetful", []limiter.Limit{monthly.Limits[0]}
	forgetful.Limits[0].Durable = false
	owner := start(t, murmurate.Options{Name: "owner", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0"})
	client := start(t, murmurate.Options{
		Name: "client", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0", Role: cluster.RoleClient,
		Join: []string{owner.GossipAddr().String()}, Policies: policies(t, monthly, rated, kept, forgetful), Deadline: patient,
	})
	eventually(t, "the client to reach the owner", func() bool { return client.Readiness().Ready })
	local := policy.Local
	denied := func(why string, want error) {
		t.Helper()
		for _, name := range []string{"plan", "rated", "kept"} {
			d, err := client.Check(t.Context(), policy.Request{Policy: name, Key: "user", OnUnreachable: &local})
			if !errors.Is(err, want) || d.Allowed || d.Source != limiter.SourceFailClosed || d.OnUnreachable != policy.Deny || d.RetryAfter != time.Second || d.DenyStatus != 0 {
				t.Errorf("%s: %s: %v, %+v", why, name, err, d)
			}
		}
	}
	denied("the owner keeps nothing", cluster.ErrNotKept)
	owner.Kill()
	denied("the owner is gone", cluster.ErrUnreachable)
	for i := range 6 { // a client has half beside one owner
		d, err := client.Allow(t.Context(), "forgetful", "user")
		if !errors.Is(err, cluster.ErrUnreachable) || d.Allowed != (i < 5) || d.Source != limiter.SourceShare {
			t.Errorf("a quota that may be lost, call %d: %v, %+v", i+1, err, d)
		}
		if !d.Allowed && d.RetryAfter > time.Minute {
			t.Errorf("to wait %v, though the owner may be back", d.RetryAfter)
		}
	}
}
