package murmurate_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// BenchmarkCheckDurable is a check of a quota that is on disk before the
// answer, beside one that is not: with a chunk of one, so that each waits for
// the disk, and of a thousand.
func BenchmarkCheckDurable(b *testing.B) {
	quota := func(name string, count int64, durable bool) policy.Policy {
		return policy.Policy{Name: name, Limits: []limiter.Limit{{
			Algorithm: limiter.Quota, Count: count, Period: 365 * 24 * time.Hour, Durable: durable,
		}}}
	}
	node := start(b, murmurate.Options{Alone: true, Deadline: patient, DataDir: b.TempDir(), Policies: policies(b,
		quota("plain", 1_000_000, false), quota("ahead", 1_000_000, true), quota("each", 1000, true))})
	list, used := keys(1_000_000), 0 // each of them is used up once
	for _, width := range []int{1, 64} {
		for _, name := range []string{"plain", "ahead", "each"} {
			b.Run(map[int]string{1: "one caller", 64: "64 callers"}[width]+"/"+name, func(b *testing.B) {
				perKey := map[string]int{"plain": 900_000, "ahead": 900_000, "each": 900}[name]
				first := used
				used += b.N/perKey + 1
				syncs, times := node.Syncs(), make([]time.Duration, b.N)
				var next atomic.Int64
				var work sync.WaitGroup
				for range width {
					work.Go(func() {
						for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
							began := time.Now()
							if d, err := node.Allow(b.Context(), name, list[first+int(i)/perKey]); err != nil || !d.Allowed {
								b.Errorf("%+v, %v", d, err)
								return
							}
							times[i] = time.Since(began)
						}
					})
				}
				work.Wait()
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
				b.ReportMetric(float64(node.Syncs()-syncs)/float64(b.N), "syncs/op")
			})
		}
	}
}
