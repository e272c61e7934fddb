package murmurate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// estimated has node decide r, which is admitted, and returns the receipt.
func estimated(t *testing.T, node *murmurate.Node, r policy.Request) string {
	t.Helper()
	r.Receipt = true
	d, err := node.Check(t.Context(), r)
	if err != nil || !d.Allowed || d.Receipt == "" {
		t.Fatalf("%v, %+v", err, d)
	}
	return d.Receipt
}

// settled settles at node and returns what is left then.
func settled(t *testing.T, node *murmurate.Node, receipt string, actual int64) int64 {
	t.Helper()
	d, err := node.Settle(t.Context(), receipt, actual)
	if err != nil || !d.Allowed || d.Cost != actual {
		t.Errorf("settling %d: %v, %+v", actual, err, d)
	}
	return d.Remaining
}

// left is what a key has left.
func left(t *testing.T, node *murmurate.Node, policyName, key string) int64 {
	t.Helper()
	d, err := node.Peek(t.Context(), policyName, key)
	if err != nil {
		t.Fatal(err)
	}
	return d.Remaining
}

// named is a policy that applies to checks which name it.
func named(name string, limits ...limiter.Limit) policy.Policy {
	return policy.Policy{Name: name, Match: policy.Match{Path: "/" + name}, Limits: limits}
}

func tokens(count int64) policy.Policy { return named("tokens", hourly(count)) }

// scenario 35: the real number is charged, once for each receipt, whichever
// node it reaches, at one time with others.
func TestAReceiptIsSettledOnce(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		c.Delay(time.Millisecond, time.Millisecond)
		nodes := c.Nodes()
		for i := range 30 {
			key := fmt.Sprint("user-", i)
			actual := int64(i % 20)
			receipt := estimated(t, nodes[i%3].Node, policy.Request{Policy: "tokens", Key: key, Cost: 10})
			var calls sync.WaitGroup
			for _, n := range append(nodes, nodes...) {
				calls.Go(func() {
					if got := settled(t, n.Node, receipt, actual); got != 100-actual {
						t.Errorf("key %d at %s: %d left, want %d", i, n.Name(), got, 100-actual)
					}
				})
			}
			calls.Wait()
			if got := settled(t, nodes[(i+1)%3].Node, receipt, 50); left(t, nodes[0].Node, "tokens", key) != 100-actual {
				t.Errorf("key %d: %d left after it was settled at another cost", i, got)
			}
		}
	}, tokens(100))
}

// A thousand receipts in random order, most of them several times, while a
// node joins. Counters that stay where they are have been charged what each
// request really cost.
func TestAThousandReceiptsWhileANodeJoins(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		c.Delay(200*time.Microsecond, time.Millisecond)
		const receipts, keys = 1000, 50
		random := rand.New(rand.NewPCG(7, 8))
		nodes := c.Nodes()
		owners := func() (ids [keys]string) {
			for k := range ids {
				ids[k], _ = nodes[0].OwnerOf("tokens", fmt.Sprint(k))
			}
			return ids
		}
		before := owners()
		var spent [keys]int64
		type work struct {
			receipt string
			actual  int64
		}
		var all []work
		for i := range receipts {
			w := work{estimated(t, nodes[i%3].Node, policy.Request{Policy: "tokens", Key: fmt.Sprint(i % keys), Cost: 20}), random.Int64N(60)}
			spent[i%keys] += w.actual
			for range 1 + i%3 {
				all = append(all, w)
			}
		}
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var settling sync.WaitGroup
		for i, w := range all {
			if i == len(all)/2 {
				settling.Go(func() { c.Start("n4", testcluster.NodeOptions{}) })
			}
			settling.Go(func() {
				for at := i; ; at++ { // a node that has just joined may not be reached at once
					_, err := nodes[at%3].Settle(t.Context(), w.receipt, w.actual)
					if err == nil {
						return
					}
					if !errors.Is(err, cluster.ErrUnreachable) {
						t.Error(err)
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
			time.Sleep(time.Millisecond)
		}
		settling.Wait()
		c.Await(time.Minute, "the nodes to agree", func() bool { return c.Agree() && c.Connected() })
		stayed := 0
		for k, owner := range owners() {
			if owner != before[k] {
				continue
			}
			stayed++
			if got := 1_000_000 - left(t, c.Node("n4").Node, "tokens", fmt.Sprint(k)); got != spent[k] {
				t.Errorf("key %d: %d units are charged, want %d", k, got, spent[k])
			}
		}
		if stayed < keys/2 || stayed == keys {
			t.Errorf("%d of %d keys stayed with their owner", stayed, keys)
		}
	}, tokens(1_000_000))
}

// What one owner cannot settle is said, and settled once when it is back.
func TestSettlingSeveralOwners(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		user := ""
		for i := 0; user == ""; i++ {
			name := fmt.Sprint("u", i)
			site, _ := c.Node("n1").OwnerOf("site", "any")
			if owner, _ := c.Node("n1").OwnerOf("user", "header:x-user="+name); owner != site {
				user = name
			}
		}
		lost, _ := c.Node("n1").OwnerOf("user", "header:x-user="+user)
		there, _ := c.Node("n1").OwnerOf("site", "any")
		asker := c.Node(there) // settles the site's part itself
		receipt := estimated(t, asker.Node, policy.Request{Attributes: visitor{path: "/shop/x", user: user}, Cost: 3})
		c.Cut([]string{there}, []string{lost})
		c.Await(time.Minute, "the cut to be noticed", func() bool {
			_, err := asker.Peek(t.Context(), "user", "header:x-user="+user)
			return err != nil
		})
		_, err := asker.Settle(t.Context(), receipt, 1)
		if !errors.Is(err, cluster.ErrUnreachable) || !strings.Contains(err.Error(), "not settled for user (settled for site); settle again") {
			t.Errorf("%v", err)
		}
		c.Heal()
		c.Await(time.Minute, "the nodes to meet again", func() bool { return c.Agree() && c.Connected() })
		for range 2 {
			if got := settled(t, asker.Node, receipt, 1); got != 4 {
				t.Errorf("the user has %d left, want 4", got)
			}
		}
		if got := left(t, asker.Node, "site", "any"); got != 9 {
			t.Errorf("the site has %d left, want 9", got)
		}
	}, siteRules()...)
}

// What was taken from a share is settled by the node that has it, and by no
// other.
func TestSettlingAShare(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
		key := ownedBy(t, c.Node("n2").Node, "tokens")
		c.Cut([]string{"n1"}, []string{"n2"})
		var receipt string
		c.Await(time.Minute, "n1 to use its share", func() bool {
			d, err := c.Node("n1").Check(t.Context(), policy.Request{Policy: "tokens", Key: key, Cost: 20, Receipt: true})
			receipt = d.Receipt
			return err != nil && d.Source == limiter.SourceShare
		})
		before, _ := c.Node("n1").Peek(t.Context(), "tokens", key)
		d, err := c.Node("n3").Settle(t.Context(), receipt, 5)
		if err != nil || d.Source != limiter.SourceFailOpen {
			t.Errorf("at another node: %v, %+v", err, d)
		}
		for range 2 {
			d, err := c.Node("n1").Settle(t.Context(), receipt, 5)
			if err != nil || d.Source != limiter.SourceShare || d.Remaining != before.Remaining+15 {
				t.Errorf("%v, %+v, want %d remaining", err, d, before.Remaining+15)
			}
		}
	}, tokens(900))
}

// lone runs test with a node of siteRules, and of a window that begins with
// each hour, and of a policy that only observes.
func lone(t *testing.T, test func(t *testing.T, n *murmurate.Node)) {
	t.Helper()
	t.Parallel()
	window := limiter.Limit{Name: "hour", Algorithm: limiter.FixedWindow, Count: 10, Period: time.Hour}
	shadow := named("shadow", hourly(10))
	shadow.Shadow = true
	testcluster.Lone(t, test, append(siteRules(), tokens(10), shadow, named("window", window))...)
}

func TestWhoIsGivenAReceipt(t *testing.T) {
	lone(t, func(t *testing.T, n *murmurate.Node) {
		limit := hourly(10)
		for _, row := range []struct {
			why     string
			request policy.Request
			want    bool
			source  limiter.Source // once settled
			after   int64          // remaining then, at an actual cost of 4
		}{
			{"admitted", policy.Request{Policy: "tokens", Key: "a", Cost: 6}, true, limiter.SourceOwner, 6},
			{"at the default cost", policy.Request{Policy: "tokens", Key: "b"}, true, limiter.SourceOwner, 6},
			{"for a limit of its own", policy.Request{Key: "c", Limit: &limit, Cost: 6}, true, limiter.SourceOwner, 6},
			{"only looks now", policy.Request{Policy: "tokens", Key: "d", Peek: true}, true, limiter.SourceOwner, 6},
			{"denied", policy.Request{Policy: "tokens", Key: "e", Cost: 11}, false, 0, 0}, // scenario 37
			{"denied at a look", policy.Request{Policy: "tokens", Key: "e", Cost: 11, Peek: true}, false, 0, 0},
			{"denied in shadow", policy.Request{Policy: "shadow", Key: "f", Cost: 11}, true, limiter.SourceFailOpen, 0},
			{"observed only", policy.Request{Policy: "shadow", Key: "g", Cost: 6}, true, limiter.SourceOwner, 6},
			{"of two policies", policy.Request{Attributes: visitor{path: "/shop/x", user: "anna"}, Cost: 2}, true, limiter.SourceOwner, 1},
			{"unlimited in one of two", policy.Request{Attributes: visitor{path: "/shop/x", user: "vip"}, Cost: 2}, true, limiter.SourceOwner, 2},
			{"blocked", policy.Request{Attributes: visitor{path: "/shop/x", user: "thief"}}, false, 0, 0},
			{"of no policy", policy.Request{Attributes: visitor{path: "/other"}}, true, limiter.SourceNone, 0},
		} {
			row.request.Receipt = true
			d, err := n.Check(t.Context(), row.request)
			if err != nil || (d.Receipt != "") != row.want {
				t.Errorf("%s: %v, receipt %q", row.why, err, d.Receipt)
			}
			if !row.want {
				continue
			}
			for range 2 {
				after, err := n.Settle(t.Context(), d.Receipt, 4)
				if err != nil || !after.Allowed || after.Remaining != row.after || after.Source != row.source || after.Cost != 4 {
					t.Errorf("%s: %v, %+v, want %d remaining, source %v", row.why, err, after, row.after, row.source)
				}
				if after.Policy != d.Policy || len(after.Limits) != len(d.Limits) {
					t.Errorf("%s: settled is %+v, decided was %+v", row.why, after, d)
				}
			}
		}
	})
}

func TestReceiptsThatAreRefused(t *testing.T) {
	lone(t, func(t *testing.T, n *murmurate.Node) {
		receipt := estimated(t, n, policy.Request{Policy: "tokens", Key: "a", Cost: 6})
		refused := func(why, receipt string, actual int64, want error, field string) {
			t.Helper()
			_, err := n.Settle(t.Context(), receipt, actual)
			faults := policy.InputErrors(err)
			if !errors.Is(err, want) || len(faults) != 1 || faults[0].Field != field {
				t.Errorf("%s: %v", why, err)
			}
		}
		refused("forged", receipt[:len(receipt)-2]+"xx", 1, policy.ErrInput, "receipt")
		refused("none", "", 1, policy.ErrInput, "receipt")
		refused("negative", receipt, -1, policy.ErrInput, "cost")
		refused("huge", receipt, limiter.MaxCount+1, policy.ErrInput, "cost")
		if got := left(t, n, "tokens", "a"); got != 4 {
			t.Errorf("%d left, want 4", got)
		}
		time.Sleep(limiter.ReceiptLife - time.Second)
		estimated(t, n, policy.Request{Policy: "tokens", Key: "b"}) // so that the window of a is not the only counter
		time.Sleep(time.Second)
		refused("expired", receipt, 1, policy.ErrReceiptExpired, "receipt")
	})
}

// scenario 6: what is given back after the window has rolled over changes
// nothing, and what was charged too little counts in the window of now.
func TestSettlingAfterTheWindow(t *testing.T) {
	lone(t, func(t *testing.T, n *murmurate.Node) {
		time.Sleep(30 * time.Minute)
		back := estimated(t, n, policy.Request{Policy: "window", Key: "a", Cost: 6})
		more := estimated(t, n, policy.Request{Policy: "window", Key: "a", Cost: 1})
		time.Sleep(31 * time.Minute)
		if _, err := n.AllowN(t.Context(), "window", "a", 2); err != nil {
			t.Fatal(err)
		}
		if got := settled(t, n, back, 0); got != 8 {
			t.Errorf("%d left, want 8", got)
		}
		if got := settled(t, n, more, 4); got != 5 {
			t.Errorf("%d left, want 5", got)
		}
	})
}

// A receipt stays good when its policy changes or goes.
func TestReceiptsOutliveTheirPolicies(t *testing.T) {
	lone(t, func(t *testing.T, n *murmurate.Node) {
		receipts := []string{
			estimated(t, n, policy.Request{Policy: "tokens", Key: "a", Cost: 6}),
			estimated(t, n, policy.Request{Policy: "window", Key: "a", Cost: 6}),
		}
		if err := n.SetPolicies(policies(t, tokens(20))); err != nil {
			t.Fatal(err)
		}
		for _, receipt := range receipts {
			if got := settled(t, n, receipt, 1); got != 9 {
				t.Errorf("%d of 10 left", got)
			}
		}
		if got := left(t, n, "tokens", "a"); got != 19 {
			t.Errorf("%d of 20 left", got)
		}
	})
}

// Estimate 100, actual 812 at 30,000 a minute: the next call waits exactly as
// long as the debt needs.
func TestTheNextCallWaitsForTheDebt(t *testing.T) {
	t.Parallel()
	testcluster.Lone(t, func(t *testing.T, n *murmurate.Node) {
		settled(t, n, estimated(t, n, policy.Request{Policy: "tokens", Key: "a", Cost: 100}), 812)
		began := time.Now()
		if _, err := n.WaitN(t.Context(), "tokens", "a", 100); err != nil {
			t.Fatal(err)
		}
		if got, want := time.Since(began), 812*time.Minute/30_000; got != want {
			t.Errorf("waited %v, want %v", got, want)
		}
	}, named("tokens", limiter.PerMinute(30_000).WithBurst(100)))
}

// When receipts have expired, nothing is left of them.
func TestReceiptsLeaveNothing(t *testing.T) {
	lone(t, func(t *testing.T, n *murmurate.Node) {
		for i := range 100 {
			receipt := estimated(t, n, policy.Request{Policy: "tokens", Key: fmt.Sprint(i), Cost: 6})
			if i%2 == 0 {
				settled(t, n, receipt, 0)
			}
		}
		if got := n.Keys(); got != 50+2*50 {
			t.Errorf("%d places, want 50 settled ids, 50 counters and 50 open charges", got)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if got := n.Keys(); got != 0 {
			t.Errorf("%d places are left", got)
		}
	})
}

// Whoever only looks now and is charged later has a key of its own, and is
// heard of.
func TestLooksThatAreChargedLater(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	n := start(t, murmurate.Options{Alone: true, Policies: policies(t, tokens(10)), Observer: seen})
	fingerprint, err := n.Fingerprint("tokens", "victim")
	if err != nil {
		t.Fatal(err)
	}
	settled(t, n, estimated(t, n, policy.Request{Policy: "tokens", Key: fingerprint, Peek: true}), 7)
	if got := left(t, n, "tokens", "victim"); got != 10 {
		t.Errorf("another's counter has %d left", got)
	}
	if want := "receipt settled 1, tokens allowed owner 1"; seen.String() != want {
		t.Errorf("observed %q, want %q", seen, want)
	}
}

// SettleSoon waits for no other node, and has settled when its node is closed.
func TestSettleSoon(t *testing.T) {
	t.Parallel()
	testcluster.Run(t, 2, func(t *testing.T, c *testcluster.Cluster) {
		mine, theirs := ownedBy(t, c.Node("n1").Node, "tokens"), ownedBy(t, c.Node("n2").Node, "tokens")
		first := estimated(t, c.Node("n1").Node, policy.Request{Policy: "tokens", Key: mine, Cost: 10})
		var others []string
		for range 300 { // more than are settled at one time
			others = append(others, estimated(t, c.Node("n1").Node, policy.Request{Policy: "tokens", Key: theirs, Cost: 2}))
		}
		c.Delay(5*time.Millisecond, 0)
		began := time.Now()
		c.Node("n1").SettleSoon(first, 1)
		c.Node("n1").SettleSoon(others[0], 1)
		if got := left(t, c.Node("n1").Node, "tokens", mine); got != 999 || time.Since(began) != 0 {
			t.Errorf("%d left after %v", got, time.Since(began))
		}
		for _, receipt := range others[1:] {
			c.Node("n1").SettleSoon(receipt, 1)
		}
		if err := c.Node("n1").Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := left(t, c.Node("n2").Node, "tokens", theirs); got != 700 {
			t.Errorf("%d left, want 700", got)
		}
	}, tokens(1000))
}

// What cannot be settled is counted, and in the background told to the log.
func TestSettleSoonThatFails(t *testing.T) {
	t.Parallel()
	log, seen := new(lockedBuilder), &observer{}
	n := start(t, murmurate.Options{Alone: true, Logger: slog.New(slog.NewTextHandler(log, nil)), Observer: seen, Policies: policies(t, tokens(10))})
	receipt := estimated(t, n, policy.Request{Policy: "tokens", Key: "secret"})
	for range 3 {
		n.SettleSoon("forged", 1)
	}
	if got := log.String(); strings.Count(got, "not settled") != 1 || !strings.Contains(got, "is not a receipt") {
		t.Errorf("log:\n%s", got)
	}
	if err := n.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Settle(t.Context(), receipt, 1); !errors.Is(err, murmurate.ErrClosed) {
		t.Errorf("%v", err)
	}
	if want := "receipt failed 1, receipt refused 3, tokens allowed owner 1"; seen.String() != want {
		t.Errorf("observed %s, want %s", seen, want)
	}
}

// Receipts have room for what a policy can have; a check that would need
// more is refused before anything is charged.
func TestReceiptsThatWouldBeTooLong(t *testing.T) {
	t.Parallel()
	var many []policy.Policy
	for i := range 80 {
		p := policy.Policy{Name: fmt.Sprintf("%s-%02d", strings.Repeat("p", 60), i), Match: policy.Match{Path: "/**"}, Key: []string{"global"}}
		p.Limits = []limiter.Limit{hourly(10)}
		many = append(many, p)
	}
	n := start(t, murmurate.Options{Alone: true, Policies: policies(t, many...)})
	_, err := n.Check(t.Context(), policy.Request{Attributes: visitor{path: "/x"}, Receipt: true})
	if faults := policy.InputErrors(err); len(faults) != 1 || faults[0].Field != "receipt" || n.Keys() != 0 {
		t.Errorf("%v, %d counters", err, n.Keys())
	}
}
