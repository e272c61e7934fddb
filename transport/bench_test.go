package transport

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// admits answers without counting.
var admits = handlerFunc(func(call *limiter.Call, results []limiter.Result) Code {
	for i := range results {
		results[i] = limiter.Result{Allowed: true, Limit: call.Charges[i].Limit.Count, Remaining: 50, ResetAfter: time.Second}
	}
	return CodeOK
})

// BenchmarkQuiet is one caller at a time: the round trip of a forwarded call.
func BenchmarkQuiet(b *testing.B) {
	_, c := pair(b, ServerOptions{Handler: admits}, ClientOptions{})
	ca, results := call(1, 1), make([]limiter.Result, 1)
	took := make([]time.Duration, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if err := c.Do(b.Context(), start.Add(time.Second), ca, results); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

func benchmarkParallel(b *testing.B, callers int, so ServerOptions, co ClientOptions) {
	so.Handler = admits
	_, c := pair(b, so, co)
	before := c.Stats()
	b.SetParallelism((callers + 1) / 2)
	b.ReportAllocs()
	var failed atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		ca, results := call(1, 1), make([]limiter.Result, 1)
		for pb.Next() {
			if c.Do(b.Context(), time.Now().Add(time.Second), ca, results) != nil {
				failed.Add(1)
			}
		}
	})
	after := c.Stats()
	b.ReportMetric(float64(after.Calls-before.Calls)/float64(after.Frames-before.Frames), "calls/frame")
	if failed.Load() > 0 {
		b.Errorf("%d calls failed", failed.Load())
	}
}

func BenchmarkParallel32(b *testing.B)  { benchmarkParallel(b, 32, ServerOptions{}, ClientOptions{}) }
func BenchmarkParallel512(b *testing.B) { benchmarkParallel(b, 512, ServerOptions{}, ClientOptions{}) }

func BenchmarkParallel32TLS(b *testing.B) {
	config := secretTLS(b, "secret")
	benchmarkParallel(b, 32, ServerOptions{TLS: config}, ClientOptions{TLS: config})
}

func BenchmarkEncodeCall(b *testing.B) {
	ca := call(1, 1)
	var buf []byte
	for b.Loop() {
		buf, _ = appendCall(buf[:0], ca)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecodeCall(b *testing.B) {
	body, err := appendCall(nil, call(1, 1))
	if err != nil {
		b.Fatal(err)
	}
	var space callSpace
	var z zones
	b.ReportAllocs()
	for b.Loop() {
		if !space.decode(body, &z) {
			b.Fatal("not decoded")
		}
	}
}
