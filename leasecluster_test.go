package murmurate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// keyOf is a key of the policy that the named node owns.
func keyOf(t testing.TB, n *murmurate.Node, policyName, owner string) string {
	t.Helper()
	for i := range 10_000 {
		if id, _ := n.OwnerOf(policyName, fmt.Sprint("k", i)); id == owner {
			return fmt.Sprint("k", i)
		}
	}
	t.Fatalf("%s owns no key", owner)
	return ""
}

// crowd has many holders at one time take and give back slots of one key for as
// long as hold says, and checks that never more than the limit have one.
func crowd(t *testing.T, nodes []*murmurate.Node, holders int, limit int64, hold func() time.Duration) {
	var running, most, served atomic.Int64
	var all sync.WaitGroup
	for i := range holders {
		all.Go(func() {
			lease, _, err := nodes[i%len(nodes)].WaitAcquire(t.Context(), of("api", "crowd"))
			if err != nil {
				t.Error(err)
				return
			}
			now := running.Add(1)
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			time.Sleep(hold())
			running.Add(-1)
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
			served.Add(1)
		})
	}
	all.Wait()
	if most.Load() != limit || served.Load() != int64(holders) {
		t.Errorf("%d of %d were served, %d at once, want %d", served.Load(), holders, most.Load(), limit)
	}
	for _, n := range nodes {
		if got := free(t, n, "api", "crowd"); got != limit {
			t.Errorf("%d of %d slots are free in the end", got, limit)
		}
	}
}

// 1,000 holders of random length share 100 slots over three nodes.
func TestCrowdOverThreeNodes(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		c.Delay(time.Millisecond, time.Millisecond)
		var nodes []*murmurate.Node
		for _, n := range c.Nodes() {
			nodes = append(nodes, n.Node)
		}
		crowd(t, nodes, 1000, 100, func() time.Duration { return rand.N(2 * time.Second) })
	}, atOnce("api", 100))
}

func TestCrowdOverRealNodes(t *testing.T) {
	t.Parallel()
	nodes := threeNodes(t, policies(t, atOnce("api", 10)))
	crowd(t, nodes, 60, 10, func() time.Duration { return 100*time.Millisecond + rand.N(100*time.Millisecond) })
}

// The waiters of every node get their part of what is free, whichever owns it.
func TestNodesShareWhatIsFree(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		counts := make([]int, 9)
		var waiting sync.WaitGroup
		for i := range counts {
			waiting.Go(func() {
				for {
					lease, _, err := c.Nodes()[i%3].WaitAcquire(ctx, of("api", "k"))
					if err != nil {
						return
					}
					time.Sleep(50 * time.Millisecond)
					_ = lease.Release(ctx)
					counts[i]++
				}
			})
		}
		waiting.Wait()
		for _, n := range counts { // some 200 on the average
			if n < 100 || n > 400 {
				t.Errorf("served %v times", counts)
				break
			}
		}
	}, atOnce("api", 1))
}

// Whoever is killed renews no more: the slot is back a TTL after the last
// renewal, to the millisecond.
func TestKilledHolder(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		key := keyOf(t, c.Node("n1").Node, "api", "n1")
		began := time.Now()
		lease := acquire(t, c.Node("n2").Node, of("api", key))
		time.Sleep(25 * time.Second) // renewed after 10 s and after 20 s
		c.Kill("n2")
		<-lease.Done()
		time.Sleep(time.Until(began.Add(50*time.Second - time.Millisecond)))
		if got := free(t, c.Node("n1").Node, "api", key); got != 0 {
			t.Error("the slot is back a millisecond early")
		}
		time.Sleep(3 * time.Millisecond)
		if got := free(t, c.Node("n1").Node, "api", key); got != 1 {
			t.Error("the slot is not back 2 ms later")
		}
	}, atOnce("api", 1))
}

// A lease outlives an outage of its owner that is shorter than what is left of
// its TTL, and says so when it does not.
func TestLeaseWhileItsOwnerIsOutOfReach(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		n := c.Node("n2")
		key := keyOf(t, n.Node, "api", "n1")
		began := time.Now()
		lease := acquire(t, n.Node, of("api", key))
		grant, err := c.Node("n1").Grant(t.Context(), of("api", key))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Second)
		c.Pause("n1")
		time.Sleep(15 * time.Second)
		if _, err := n.Renew(t.Context(), grant.Token, 0); err == nil || errors.Is(err, policy.ErrLapsed) || errors.Is(err, policy.ErrInput) {
			t.Errorf("renewed while the owner is out of reach: %v", err)
		}
		c.Resume("n1")
		time.Sleep(5 * time.Second)
		if _, err := n.Renew(t.Context(), grant.Token, 0); err != nil || lease.Err() != nil {
			t.Errorf("after 15 s out of reach: %v, %v", err, lease.Err())
		}
		c.Pause("n1")
		outage := time.Now()
		<-lease.Done()
		if took := time.Since(outage); took < 20*time.Second || took > limiter.DefaultTTL || !errors.Is(lease.Err(), policy.ErrLapsed) {
			t.Errorf("lost after %v, %v in all: %v", took, time.Since(began), lease.Err())
		}
	}, atOnce("api", 2))
}

// What cannot be released because the owner is out of reach is released when
// it is back, before the TTL would do it.
func TestReleaseWhileTheOwnerIsOutOfReach(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		n, owner := c.Node("n2"), c.Node("n1")
		key := keyOf(t, n.Node, "api", "n1")
		lease := acquire(t, n.Node, of("api", key))
		grant, err := n.Grant(t.Context(), of("api", key))
		if err != nil {
			t.Fatal(err)
		}
		c.Pause("n1")
		time.Sleep(time.Second)
		if err := lease.Release(t.Context()); err == nil {
			t.Error("the release says that all is well")
		}
		if released, err := n.Release(t.Context(), grant.Token); released || err != nil {
			t.Errorf("the release by token says %v, %v", released, err)
		}
		<-lease.Done()
		time.Sleep(5 * time.Second)
		c.Resume("n1")
		if got := free(t, owner.Node, "api", key); got != 0 {
			t.Errorf("%d free before anybody could say so", got)
		}
		time.Sleep(5 * time.Second)
		if got := free(t, owner.Node, "api", key); got != 2 {
			t.Errorf("%d free when the owner is back", got)
		}
	}, atOnce("api", 2))
}

// While the owner is out of reach the failure mode says what a lease is worth.
func TestLeasesOfTheFailureModes(t *testing.T) {
	t.Parallel()
	all := []policy.Policy{atOnce("local", 6), atOnce("allow", 6), atOnce("deny", 6)}
	all[1].OnUnreachable, all[2].OnUnreachable = policy.Allow, policy.Deny
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		n := c.Node("n2")
		keys := map[string]string{}
		for _, p := range all {
			keys[p.Name] = keyOf(t, n.Node, p.Name, "n1")
		}
		c.Kill("n1")
		time.Sleep(time.Second)
		ask := func(name string) (murmurate.Lease, policy.Decision) {
			lease, d, err := n.Acquire(t.Context(), of(name, keys[name]))
			if err == nil || (lease != nil) != d.Allowed {
				t.Errorf("%s: %v, %+v, %v", name, lease, d, err)
			}
			return lease, d
		}
		var held []murmurate.Lease
		for i := range 3 { // of 6 slots a third is 2
			lease, d := ask("local")
			if d.Source != limiter.SourceShare || d.Allowed != (i < 2) {
				t.Errorf("local, lease %d: %+v", i+1, d)
			}
			if lease != nil {
				held = append(held, lease)
			}
		}
		grant, _ := n.Grant(t.Context(), of("allow", keys["allow"]))
		if grant.Decision.Source != limiter.SourceFailOpen || grant.Token == "" {
			t.Errorf("allow: %+v", grant)
		}
		if renewed, err := c.Node("n3").Renew(t.Context(), grant.Token, 0); err != nil || renewed.Decision.Source != limiter.SourceNone {
			t.Errorf("renewed a lease of nothing: %+v, %v", renewed, err)
		}
		if _, d := ask("deny"); d.Allowed || d.Source != limiter.SourceFailClosed {
			t.Errorf("deny: %+v", d)
		}

		time.Sleep(2 * time.Minute)
		token := held[0].Token()
		if held[0].Err() != nil {
			t.Errorf("a lease of the share ended with %v", held[0].Err())
		}
		if _, err := c.Node("n3").Renew(t.Context(), token, 0); err == nil || errors.Is(err, policy.ErrLapsed) {
			t.Errorf("renewed at another node than that of the share: %v", err)
		}
		if renewed, err := n.Renew(t.Context(), token, 0); err != nil || renewed.Decision.Source != limiter.SourceShare {
			t.Errorf("renewed at the node of the share: %+v, %v", renewed, err)
		}
		if released, err := c.Node("n3").Release(t.Context(), token); released || err != nil {
			t.Errorf("released at another node than that of the share: %v, %v", released, err)
		}
		for _, lease := range held {
			release(t, lease)
		}
		if n.Keys() != 0 {
			t.Errorf("%d slots of the share are occupied", n.Keys())
		}
	}, all...)
}

// An acquisition whose answer is lost leaves no slot behind, though the owner
// gave it.
func TestLostAnswerLeavesNoSlot(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		n, owner := c.Node("n2"), c.Node("n1")
		key := keyOf(t, n.Node, "api", "n1")
		c.Slow("n1", 100*time.Millisecond) // longer than a check may take, and no reason to call the session down
		lease, d, err := n.Acquire(t.Context(), of("api", key))
		if err == nil || lease != nil || d.Allowed {
			t.Fatalf("%v, %+v, %v", lease, d, err)
		}
		time.Sleep(150 * time.Millisecond)
		c.Slow("n1", 0)
		time.Sleep(5 * time.Second)
		if got := free(t, owner.Node, "api", key); got != 1 {
			t.Errorf("%d free", got)
		}
	}, func() policy.Policy { p := atOnce("api", 1); p.OnUnreachable = policy.Deny; return p }())
}

// A request that one of its policies denies occupies no slot of another, also
// when the two have different owners.
func TestPoliciesOfALeaseAllOrNone(t *testing.T) {
	t.Parallel()
	slots := func(name string, key string, count int64) policy.Policy {
		p := atOnce(name, count)
		p.Key = []string{key}
		return p
	}
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		nodes, apart := c.Nodes(), 0
		for round := range 100 {
			user := fmt.Sprint("u", round)
			owner, _ := nodes[0].OwnerOf("user", "header:x-user="+user)
			if site, _ := nodes[0].OwnerOf("site", "any"); site != owner {
				apart++
			}
			var mu sync.Mutex
			var held []murmurate.Lease
			var visits sync.WaitGroup
			for i := range 9 {
				who := user
				if i%3 == 2 {
					who = "other" + user
				}
				visits.Go(func() {
					lease, _, err := nodes[i%3].Acquire(t.Context(), policy.Request{Attributes: visitor{path: "/x", user: who}})
					if err != nil {
						t.Error(err)
					}
					if lease != nil {
						mu.Lock()
						defer mu.Unlock()
						held = append(held, lease)
					}
				})
			}
			visits.Wait()
			mine, others := free(t, nodes[1].Node, "user", "header:x-user="+user), free(t, nodes[1].Node, "user", "header:x-user=other"+user)
			site := free(t, nodes[2].Node, "site", "any")
			if used := 3 - mine + 3 - others; used != int64(len(held)) || 5-site != used || len(held) == 0 {
				t.Fatalf("round %d: %d leases, but of the users' slots %d and %d are free, and %d of the site's", round, len(held), mine, others, site)
			}
			left, err := nodes[0].Peek(t.Context(), "visits", "any")
			if err != nil || left.Remaining != 10_000-int64(len(held)) {
				t.Fatalf("round %d: %d visits are left, %v", round, left.Remaining, err)
			}
			for i, lease := range held {
				if released, err := nodes[i%3].Release(t.Context(), lease.Token()); !released || err != nil {
					t.Error(released, err)
				}
				release(t, lease)
			}
			if _, err := nodes[0].Reset(t.Context(), "visits", "any"); err != nil {
				t.Error(err)
			}
			if free(t, nodes[0].Node, "site", "any") != 5 || free(t, nodes[0].Node, "user", "header:x-user="+user) != 3 {
				t.Fatalf("round %d: not all slots are free in the end", round)
			}
		}
		if apart == 0 {
			t.Error("the slots never had different owners")
		}
	}, slots("user", "header:X-User", 3), slots("site", "global", 5),
		policy.Policy{Name: "visits", Key: []string{"global"}, Limits: []limiter.Limit{hourly(10_000)}})
}
