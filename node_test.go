package murmurate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait for something that must happen in the end.
const patience = 30 * time.Second

func policies(t *testing.T, list ...policy.Policy) *policy.Set {
	t.Helper()
	set, err := policy.NewSet(list...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func start(t testing.TB, o murmurate.Options) *murmurate.Node {
	t.Helper()
	node, err := murmurate.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := node.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return node
}

func threeNodes(t testing.TB, set *policy.Set) []*murmurate.Node {
	t.Helper()
	return nodes(t, 3, set)
}

// nodes starts a cluster on free loopback ports. Its deadline is long, so
// that a busy machine does not turn slowness into shares.
func nodes(t testing.TB, size int, set *policy.Set) []*murmurate.Node {
	t.Helper()
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

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

func TestAloneNodeLimits(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true})
	for i := range 101 {
		d, err := node.Check(t.Context(), policy.Request{Policy: "default", Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		if d.Allowed != (i < 100) || d.Limit != 100 {
			t.Fatalf("call %d: %+v", i+1, d)
		}
	}
	if node.Keys() != 1 {
		t.Errorf("%d keys", node.Keys())
	}
}

func TestResetAndPeek(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true})
	ask := func(r policy.Request) policy.Decision {
		d, err := node.Check(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	ask(policy.Request{Policy: "default", Key: "k", Cost: 60})
	for range 2 {
		if d := ask(policy.Request{Policy: "default", Key: "k", Cost: 41, Peek: true}); d.Allowed || d.Remaining != 40 {
			t.Errorf("a peek at 41 of 40: %+v", d)
		}
	}
	d, err := node.Reset(t.Context(), "default", "k")
	if err != nil || d.Remaining != 100 {
		t.Errorf("reset: %v, %+v", err, d)
	}
}

func TestWrongRequestsChargeNothing(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true})
	limit := func(l limiter.Limit) *limiter.Limit { return &l }
	for name, row := range map[string]struct {
		r       policy.Request
		field   string
		unknown bool
	}{
		"no key":         {policy.Request{Policy: "default"}, "key", false},
		"long key":       {policy.Request{Policy: "default", Key: strings.Repeat("k", 1025)}, "key", false},
		"invalid key":    {policy.Request{Policy: "default", Key: "\xff"}, "key", false},
		"negative cost":  {policy.Request{Policy: "default", Key: "k", Cost: -1}, "cost", false},
		"unknown policy": {policy.Request{Policy: "defaul", Key: "k"}, "policy", true},
		"no policy":      {policy.Request{Key: "k"}, "policy", false},
		"both":           {policy.Request{Policy: "default", Key: "k", Limit: limit(limiter.Limit{})}, "policy", false},
		"bad limit":      {policy.Request{Key: "k", Limit: limit(limiter.Limit{Algorithm: limiter.TokenBucket, Count: 1})}, "limit.period", false},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := node.Check(t.Context(), row.r)
			input, ok := errors.AsType[*policy.InputError](err)
			if !ok || input.Field != row.field || !errors.Is(err, policy.ErrInput) || errors.Is(err, policy.ErrUnknownPolicy) != row.unknown {
				t.Errorf("error %v", err)
			}
			if d.Allowed || d.Limits != nil {
				t.Errorf("decided %+v", d)
			}
		})
	}
	if node.Keys() != 0 {
		t.Errorf("%d keys were charged", node.Keys())
	}
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
	keyOf := func(policyName string) string {
		for i := range 10_000 {
			key := fmt.Sprint("key-", i)
			if owner, err := asked.OwnerOf(policyName, key); err == nil && owner == dead.Name() {
				return key
			}
		}
		t.Fatal("the node owns nothing")
		return ""
	}
	keys := map[string]string{"local": keyOf("local"), "allow": keyOf("allow"), "deny": keyOf("deny")}
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

func TestShadowNeverDenies(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	node := start(t, murmurate.Options{Alone: true, Observer: seen, Policies: policies(t, policy.Policy{
		Name: "watch", Shadow: true,
		Limits: []limiter.Limit{{Algorithm: limiter.TokenBucket, Count: 2, Period: time.Hour}},
	})})
	for range 5 {
		d, err := node.Check(t.Context(), policy.Request{Policy: "watch", Key: "k"})
		if err != nil || !d.Allowed || !d.Shadow {
			t.Errorf("%v, %+v", err, d)
		}
	}
	if got := seen.String(); got != "watch allowed owner 2, watch shadow_denied owner 3" {
		t.Errorf("observed %s", got)
	}
}

func TestFullTableRefusesNewKeys(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true, MaxKeys: 1000})
	refused := 0
	for i := range 5000 {
		d, err := node.Check(t.Context(), policy.Request{Policy: "default", Key: fmt.Sprint(i)})
		if errors.Is(err, limiter.ErrFull) {
			refused++
			if d.Allowed || d.Source != limiter.SourceFailClosed || d.RetryAfter <= 0 {
				t.Fatalf("refused with %+v", d)
			}
		}
	}
	if refused < 4000 || node.Keys() > 1000 {
		t.Errorf("%d refused, %d keys at a bound of 1000", refused, node.Keys())
	}
	if d, err := node.Check(t.Context(), policy.Request{Policy: "default", Key: "0"}); err != nil || d.Remaining != 98 {
		t.Errorf("a key that has its place: %v, %+v", err, d)
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

func TestTwoNodesWithDifferentOptions(t *testing.T) {
	t.Parallel()
	for _, count := range []int64{3, 8} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			t.Parallel()
			node := start(t, murmurate.Options{Alone: true, Policies: policies(t, policy.Policy{
				Name:   "p",
				Limits: []limiter.Limit{{Algorithm: limiter.TokenBucket, Count: count, Period: time.Hour}},
			})})
			admitted := int64(0)
			for range 20 {
				if d, err := node.Check(t.Context(), policy.Request{Policy: "p", Key: "k"}); err == nil && d.Allowed {
					admitted++
				}
			}
			if admitted != count {
				t.Errorf("admitted %d", admitted)
			}
		})
	}
}

func TestOptionsNameEveryFault(t *testing.T) {
	t.Parallel()
	_, err := murmurate.Start(t.Context(), murmurate.Options{
		Gossip: "0.0.0.0:0", Peer: "localhost:1", Deadline: -1, MaxKeys: -1, Role: "client",
		TLS: murmurate.TLSFiles{Cert: "c"},
	})
	if err == nil {
		t.Fatal("it started")
	}
	for _, name := range []string{"Gossip:", "Peer:", "Deadline:", "MaxKeys:", "Join:", "TLS:"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is missing in:\n%v", name, err)
		}
	}
}

func TestPortInUseSaysWhatToChange(t *testing.T) {
	t.Parallel()
	first := start(t, murmurate.Options{Name: "first", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0"})
	for flag, o := range map[string]murmurate.Options{
		"--peer":   {Name: "second", Gossip: "127.0.0.1:0", Peer: first.PeerAddr().String()},
		"--gossip": {Name: "second", Gossip: first.GossipAddr().String(), Peer: "127.0.0.1:0"},
	} {
		_, err := murmurate.Start(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), flag) || !strings.Contains(err.Error(), "127.0.0.1:") {
			t.Errorf("%s: error %v", flag, err)
		}
	}
}

// A hundred lives leave nothing behind. Goroutines are goleak's to find;
// this looks at the heap.
func TestStartAndCloseLeaveNothing(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	once := func() {
		node, err := murmurate.Start(t.Context(), murmurate.Options{Name: "again", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // closing twice is closing once
			if err := node.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	once()
	before := heap()
	for range 20 {
		once()
	}
	if after := heap(); after > before+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

func TestLogNamesTheOutageOnceAndNoKey(t *testing.T) {
	t.Parallel()
	var log lockedBuilder
	node := start(t, murmurate.Options{Alone: true, MaxKeys: 10, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for i := range 2000 {
		_, _ = node.Check(t.Context(), policy.Request{Policy: "default", Key: fmt.Sprint("secret-person-", i)})
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, log.String())
	}
	if strings.Contains(log.String(), "secret-person") {
		t.Error("a key is in the log")
	}
}
