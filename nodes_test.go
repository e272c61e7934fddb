package murmurate_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// nodes starts a cluster on free loopback ports. Its deadline is long, so
// that a busy machine does not turn slowness into shares. Without a set the
// policy "default" is 100 from the first call on, whatever the time of day.
func nodes(t testing.TB, size int, set *policy.Set) []*murmurate.Node {
	t.Helper()
	if set == nil {
		set = policies(t, policy.Policy{Name: policy.DefaultName, Limits: []limiter.Limit{
			{Algorithm: limiter.FixedWindow, Count: 100, Period: 24 * time.Hour, Align: limiter.AlignFirst},
		}})
	}
	var nodes []*murmurate.Node
	var seed []string
	for i := range size {
		n := start(t, murmurate.Options{
			Name: fmt.Sprintf("n%d", i+1), Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0",
			Join: seed, Policies: set, Deadline: 5 * time.Second,
		})
		nodes = append(nodes, n)
		seed = []string{nodes[0].GossipAddr().String()}
	}
	for _, n := range nodes {
		eventually(t, n.Name()+" to be ready among all", func() bool {
			return n.Readiness().Ready && !n.Readiness().Alone && len(n.Members()) == size && n.Digest() == nodes[0].Digest()
		})
	}
	return nodes
}

func threeNodes(t testing.TB, set *policy.Set) []*murmurate.Node {
	t.Helper()
	return nodes(t, 3, set)
}

func TestParallelChecksOverThreeNodesAreExact(t *testing.T) {
	t.Parallel()
	nodes := threeNodes(t, nil)
	for round := range 10 {
		var admitted atomic.Int64
		var calls sync.WaitGroup
		for i := range 500 {
			calls.Go(func() {
				d, err := nodes[i%3].Check(t.Context(), policy.Request{
					Key:   fmt.Sprint("crowd-", round),
					Limit: &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 40, Period: time.Hour},
				})
				if err != nil {
					t.Error(err)
				}
				if d.Allowed {
					admitted.Add(1)
				}
			})
		}
		calls.Wait()
		if admitted.Load() != 40 {
			t.Errorf("round %d: admitted %d of 500, want 40", round, admitted.Load())
		}
	}
}

func TestEveryNodeGivesTheSameAnswer(t *testing.T) {
	t.Parallel()
	nodes := threeNodes(t, nil)
	for key := range 20 {
		r := policy.Request{Policy: "default", Key: fmt.Sprint("same-", key)}
		for i, n := range nodes {
			d, err := n.Check(t.Context(), r)
			if err != nil || d.Remaining != int64(99-i) || d.Source != limiter.SourceOwner {
				t.Errorf("key %d by %s: %v, %+v", key, n.Name(), err, d)
			}
			mine, err := n.OwnerOf("default", r.Key)
			theirs, _ := nodes[0].OwnerOf("default", r.Key)
			if err != nil || mine != theirs {
				t.Errorf("%s says that %s owns key %d, n1 says %s", n.Name(), mine, key, theirs)
			}
		}
		if d, err := nodes[key%3].Reset(t.Context(), "default", r.Key); err != nil || d.Remaining != 100 {
			t.Errorf("reset: %v, %+v", err, d)
		}
	}
}

func TestSeveralLimitsAreAllOrNone(t *testing.T) {
	t.Parallel()
	nodes := threeNodes(t, policies(t, policy.Policy{Name: "api", Limits: []limiter.Limit{
		{Name: "narrow", Algorithm: limiter.FixedWindow, Count: 3, Period: 24 * time.Hour, Align: limiter.AlignFirst},
		{Name: "wide", Algorithm: limiter.TokenBucket, Count: 100, Period: 24 * time.Hour},
	}}))
	for i := range 9 {
		d, err := nodes[i%3].Check(t.Context(), policy.Request{Policy: "api", Key: "k"})
		if err != nil || d.Allowed != (i < 3) {
			t.Fatalf("call %d: %v, %+v", i+1, err, d)
		}
		wide := d.Limits[1]
		if want := int64(100 - min(i+1, 3)); wide.Name != "api/wide" || wide.Remaining != want {
			t.Errorf("call %d: the wide limit has %d left, want %d", i+1, wide.Remaining, want)
		}
		if i >= 3 && fmt.Sprint(d.DeniedBy()) != "[api/narrow]" {
			t.Errorf("denied by %v", d.DeniedBy())
		}
	}
}

// A dead owner's keys are decided by the policy's failure mode, and every
// decision says so.
func TestFailureModes(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{{Algorithm: limiter.TokenBucket, Count: 100, Period: time.Hour}}
	set := policies(t,
		policy.Policy{Name: "local", Limits: limits},
		policy.Policy{Name: "allow", Limits: limits, OnUnreachable: policy.Allow},
		policy.Policy{Name: "deny", Limits: limits, OnUnreachable: policy.Deny},
	)
	nodes := threeNodes(t, set)
	asked, dead := nodes[0], nodes[2]
	keys := map[string]string{"local": ownedBy(t, dead, "local"), "allow": ownedBy(t, dead, "allow"), "deny": ownedBy(t, dead, "deny")}
	dead.Kill()
	for name, want := range map[string]struct {
		source   limiter.Source
		admitted int
	}{
		"local": {limiter.SourceShare, 33},
		"allow": {limiter.SourceFailOpen, 100},
		"deny":  {limiter.SourceFailClosed, 0},
	} {
		admitted := 0
		for range 100 {
			d, err := asked.Check(t.Context(), policy.Request{Policy: name, Key: keys[name]})
			if !errors.Is(err, cluster.ErrUnreachable) || d.Source != want.source {
				t.Fatalf("%s: %v, %+v", name, err, d)
			}
			if d.Allowed {
				admitted++
			} else if d.RetryAfter <= 0 {
				t.Errorf("%s: denied with retry after %v", name, d.RetryAfter)
			}
		}
		if admitted != want.admitted {
			t.Errorf("%s: admitted %d, want %d", name, admitted, want.admitted)
		}
	}
}

// A node that is starting does not know the others' share yet, so it must
// admit nothing of its own beside them. A key that moves to it starts afresh
// for now; the others stay used up.
func TestStartingNodeAdmitsNothingExtra(t *testing.T) {
	t.Parallel()
	running := nodes(t, 2, nil)
	used := keys(20)
	owners := make(map[string]string)
	check := func(n *murmurate.Node, key string, cost int64) bool {
		d, err := n.Check(t.Context(), policy.Request{Policy: "default", Key: key, Cost: cost})
		if err != nil {
			t.Fatal(err)
		}
		return d.Allowed
	}
	for _, key := range used {
		check(running[0], key, 100)
		owner, err := running[0].OwnerOf("default", key)
		if err != nil {
			t.Fatal(err)
		}
		owners[key] = owner
	}
	joining := start(t, murmurate.Options{
		Name: "n3", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0",
		Join: []string{running[0].GossipAddr().String()}, Deadline: 5 * time.Second, Policies: running[0].Policies(),
	})
	admitted := make(map[string]int)
	for ready := false; !ready; {
		ready = joining.Readiness().Ready // and one more round then
		for _, key := range used {
			if check(joining, key, 1) {
				admitted[key]++
			}
		}
	}
	stayed := 0
	for _, key := range used {
		if owner, err := joining.OwnerOf("default", key); err != nil || owner != owners[key] {
			continue
		}
		stayed++
		if admitted[key] > 0 {
			t.Errorf("%s was used up, and %d more were admitted", key, admitted[key])
		}
	}
	if stayed == 0 {
		t.Error("every key has moved, so nothing was shown")
	}
}

// scenario 29 of the faults that other limiters shipped: two nodes on one
// host became one, because peers were told apart by their address.
func TestNodesOnOneHostAreTwo(t *testing.T) {
	t.Parallel()
	pair := nodes(t, 2, nil)
	owners := make(map[string]int)
	for _, key := range keys(50) {
		owner, err := pair[0].OwnerOf("default", key)
		if err != nil {
			t.Fatal(err)
		}
		owners[owner]++
		for i, n := range pair {
			d, err := n.Check(t.Context(), policy.Request{Policy: "default", Key: key})
			if err != nil || d.Remaining != int64(99-i) {
				t.Errorf("%s by %s: %v, %+v", key, n.Name(), err, d)
			}
		}
	}
	if owners["n1"] == 0 || owners["n2"] == 0 || len(owners) != 2 {
		t.Errorf("keys by owner: %v", owners)
	}
}

func TestTakenNameIsRefused(t *testing.T) {
	t.Parallel()
	first := start(t, murmurate.Options{Name: "same", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0"})
	_, err := murmurate.Start(t.Context(), murmurate.Options{
		Name: "same", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0", Join: []string{first.GossipAddr().String()},
	})
	if !errors.Is(err, cluster.ErrDuplicate) || !strings.Contains(err.Error(), first.PeerAddr().String()) {
		t.Errorf("error %v", err)
	}
	if d, err := first.Check(t.Context(), policy.Request{Policy: "default", Key: "k"}); err != nil || !d.Allowed {
		t.Errorf("the first node: %v, %+v", err, d)
	}
}

func TestBatchAnswersInOrder(t *testing.T) {
	t.Parallel()
	nodes := threeNodes(t, nil)
	rs := make([]policy.Request, 1000)
	for i := range rs {
		rs[i] = policy.Request{Policy: "default", Key: fmt.Sprint("k", i), Cost: int64(i%50 + 1)}
	}
	rs[500].Key = ""
	for i, o := range nodes[0].CheckAll(t.Context(), rs) {
		switch {
		case i == 500:
			if !errors.Is(o.Err, policy.ErrInput) {
				t.Errorf("the bad item: %v", o.Err)
			}
		case o.Err != nil || o.Decision.Remaining != 100-rs[i].Cost:
			t.Errorf("item %d: %v, %+v", i, o.Err, o.Decision)
		}
	}
	if got := nodes[0].CheckAll(t.Context(), nil); len(got) != 0 {
		t.Errorf("an empty batch gave %v", got)
	}
}
