package murmurate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// keys are distinct keys, made outside of what is timed.
func keys(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("user:%d", i)
	}
	return list
}

func benchmarkCheck(b *testing.B, node *murmurate.Node, keys []string) {
	b.Helper()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := rand.IntN(len(keys)); pb.Next(); i++ {
			if _, err := node.Check(b.Context(), policy.Request{Policy: "default", Key: keys[i%len(keys)]}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkCheckAlone is a check in process: resolve, fingerprint, take,
// decide, count.
func BenchmarkCheckAlone(b *testing.B) {
	node := start(b, murmurate.Options{Alone: true})
	for _, n := range []int{1, 100_000} {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) { benchmarkCheck(b, node, keys(n)) })
	}
}

// BenchmarkReceipt is a check that gives a receipt, and one that is settled.
func BenchmarkReceipt(b *testing.B) {
	node := start(b, murmurate.Options{Alone: true, Policies: policies(b, tokens(limiter.MaxCount))})
	for _, settles := range []bool{false, true} {
		b.Run(fmt.Sprintf("settled=%v", settles), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d, err := node.Check(b.Context(), policy.Request{Policy: "tokens", Key: "user:42", Cost: 100, Receipt: true})
				if err == nil && settles {
					_, err = node.Settle(b.Context(), d.Receipt, 81)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheckForwarded is a check by a node that does not own the key, on
// a quiet cluster of two (one caller) and with many callers.
func BenchmarkCheckForwarded(b *testing.B) {
	nodes := nodes(b, 2, nil)
	var foreign []string
	for _, key := range keys(10_000) {
		if owner, err := nodes[0].OwnerOf("default", key); err == nil && owner != nodes[0].Name() {
			foreign = append(foreign, key)
		}
	}
	b.Run("one caller", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := nodes[0].Check(b.Context(), policy.Request{Policy: "default", Key: foreign[i%len(foreign)]}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("32 callers", func(b *testing.B) {
		b.SetParallelism(16)
		benchmarkCheck(b, nodes[0], foreign)
	})
}

// BenchmarkCheckOverridden is a check in process while overrides are set at
// run time: none, for other policies, for other keys, and for the key.
func BenchmarkCheckOverridden(b *testing.B) {
	const overrides = 10_000
	set := policies(b, policy.Default(), policy.Policy{Name: "other", Limits: policy.Default().Limits})
	overridden := keys(overrides)
	fill := func(b *testing.B, policyName string) *murmurate.Node {
		node := start(b, murmurate.Options{Alone: true, Policies: set})
		for _, key := range overridden {
			o := policy.Override{Limits: []limiter.Limit{{Algorithm: limiter.SlidingWindow, Count: 1000, Period: time.Minute}}}
			if _, err := node.SetOverride(policyName, key, o, 0); err != nil {
				b.Fatal(err)
			}
		}
		b.ResetTimer()
		return node
	}
	b.Run("none", func(b *testing.B) {
		benchmarkCheck(b, start(b, murmurate.Options{Alone: true, Policies: set}), overridden)
	})
	b.Run("other policy", func(b *testing.B) { benchmarkCheck(b, fill(b, "other"), overridden) })
	b.Run("other keys", func(b *testing.B) { benchmarkCheck(b, fill(b, "default"), keys(2 * overrides)[overrides:]) })
	b.Run("hit", func(b *testing.B) { benchmarkCheck(b, fill(b, "default"), overridden) })
}

// BenchmarkSetOverride is what it takes to put the last of 10,000 overrides in
// force, on a node without a disk.
func BenchmarkSetOverride(b *testing.B) {
	node := start(b, murmurate.Options{Alone: true})
	for _, key := range keys(9_999) {
		if _, err := node.SetOverride("default", key, policy.Override{Blocked: true}, 0); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := node.SetOverride("default", "last", policy.Override{Blocked: true}, 0); err != nil {
			b.Fatal(err)
		}
	}
}
