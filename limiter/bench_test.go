package limiter_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

const manyKeys = 1_000_000

// subjects returns n fingerprints that look as SipHash makes them.
func subjects(n int) []limiter.Subject {
	random := rand.New(rand.NewPCG(1, 2))
	s := make([]limiter.Subject, n)
	for i := range s {
		s[i] = limiter.Subject{Hi: random.Uint64(), Lo: random.Uint64()}
	}
	return s
}

// sequence returns a long order in which to take among keys, made outside of
// the timed loop.
func sequence(next func(*rand.Rand) uint64, keys []limiter.Subject) []limiter.Subject {
	random := rand.New(rand.NewPCG(3, 4))
	s := make([]limiter.Subject, 1<<21)
	for i := range s {
		s[i] = keys[next(random)]
	}
	return s
}

func uniform(r *rand.Rand) uint64 { return r.Uint64N(manyKeys) }

func zipf() func(*rand.Rand) uint64 {
	var z *rand.Zipf
	return func(r *rand.Rand) uint64 {
		if z == nil {
			z = rand.NewZipf(r, 1.1, 1, manyKeys-1)
		}
		return z.Uint64()
	}
}

func limitOf(a limiter.Algorithm) *limiter.Limit {
	return &limiter.Limit{Name: "bench", Algorithm: a, Count: 1000, Period: time.Minute}
}

// takes runs one take for each element of the sequence, on all processors.
// Each reads the sequence from another place, and the clock that is given
// advances by 100 ns a call.
func takes(b *testing.B, table *limiter.Table, l *limiter.Limit, order []limiter.Subject) {
	b.Helper()
	var starts, ticks atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		at := int(starts.Add(1)) * len(order) / 7
		now := ticks.Load()
		call := limiter.Call{Charges: []limiter.Charge{{Limit: l, Tag: l.Tag(), Cost: 1}}}
		results := make([]limiter.Result, 1)
		for pb.Next() {
			call.Subject = order[at%len(order)]
			at++
			now += 100
			if err := table.Do(limiter.At(1_700_000_000_000_000_000+now), &call, results); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkTakeHot(b *testing.B) {
	for _, a := range spending {
		b.Run(a.String(), func(b *testing.B) {
			takes(b, limiter.NewTable(limiter.TableOptions{}), limitOf(a), subjects(1))
		})
	}
}

// BenchmarkTakeFew has a set of keys that the caches hold.
func BenchmarkTakeFew(b *testing.B) {
	takes(b, limiter.NewTable(limiter.TableOptions{}), limitOf(limiter.TokenBucket), subjects(1000))
}

func BenchmarkTakeMillion(b *testing.B) {
	keys := subjects(manyKeys)
	for name, next := range map[string]func(*rand.Rand) uint64{"uniform": uniform, "zipf": zipf()} {
		order := sequence(next, keys)
		b.Run(name, func(b *testing.B) {
			table := limiter.NewTable(limiter.TableOptions{})
			fill(b, table, limitOf(limiter.TokenBucket), keys)
			takes(b, table, limitOf(limiter.TokenBucket), order)
		})
	}
}

// BenchmarkHarness is what the other benchmarks spend beside the table.
func BenchmarkHarness(b *testing.B) {
	order := sequence(uniform, subjects(manyKeys))
	var sum uint64
	at, now := 0, int64(0)
	for b.Loop() {
		subject := order[at%len(order)]
		at++
		now += 100
		sum += subject.Lo + uint64(limiter.At(now).Wall)
	}
	_ = sum
}

// BenchmarkGrow inserts a million keys into an empty table; ns/key and
// bytes/key are for one of them.
func BenchmarkGrow(b *testing.B) {
	keys := subjects(manyKeys)
	l := limitOf(limiter.TokenBucket)
	for b.Loop() {
		before := heap()
		start := time.Now()
		table := limiter.NewTable(limiter.TableOptions{})
		fill(b, table, l, keys)
		b.ReportMetric(float64(time.Since(start).Nanoseconds())/manyKeys, "ns/key")
		b.ReportMetric(float64(heap()-before)/manyKeys, "bytes/key")
		runtime.KeepAlive(table)
	}
}

func fill(b *testing.B, table *limiter.Table, l *limiter.Limit, keys []limiter.Subject) {
	b.Helper()
	call := limiter.Call{Charges: []limiter.Charge{{Limit: l, Tag: l.Tag(), Cost: 1}}}
	results := make([]limiter.Result, 1)
	for _, key := range keys {
		call.Subject = key
		if err := table.Do(limiter.At(1_700_000_000_000_000_000), &call, results); err != nil {
			b.Fatal(err)
		}
	}
}

// heap is the bytes that are in use after everything dead is collected.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkSweep looks at a million live counters; ns/key is for one.
func BenchmarkSweep(b *testing.B) {
	table := limiter.NewTable(limiter.TableOptions{})
	fill(b, table, limitOf(limiter.TokenBucket), subjects(manyKeys))
	for b.Loop() {
		table.Sweep(limiter.At(1_700_000_000_000_000_000), 1<<30)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/manyKeys, "ns/key")
}

// A hold and its end, and a take beside open holds of others.
func BenchmarkHold(b *testing.B) {
	l := &limiter.Limit{Name: "bench", Algorithm: limiter.TokenBucket, Count: limiter.MaxCount, Period: time.Hour}
	results := make([]limiter.Result, 1)
	for _, end := range []limiter.Op{limiter.Confirm, limiter.Cancel} {
		b.Run(map[limiter.Op]string{limiter.Confirm: "confirm", limiter.Cancel: "cancel"}[end], func(b *testing.B) {
			table, call := newTable(), callOf(limiter.Hold, somebody, l, 1)
			b.ReportAllocs()
			for b.Loop() {
				call.Op, call.Lapse = limiter.Hold, sec
				call.Hold.Lo++
				do(b, table, epoch, call)
				call.Op = end
				do(b, table, epoch, call)
			}
		})
	}
	for _, open := range []uint64{1, 10, 100} {
		b.Run(fmt.Sprint("take beside ", open), func(b *testing.B) {
			table, call := newTable(), callOf(limiter.Hold, somebody, l, 1)
			for i := range open {
				call.Hold.Lo, call.Lapse = i+1, sec
				do(b, table, epoch, call)
			}
			call.Op = limiter.Take
			b.ReportAllocs()
			for b.Loop() {
				if err := table.Do(limiter.At(epoch), call, results); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A take of a limit with a cool-down: one that is admitted, one that is denied
// during the cool-down, and one that begins it anew.
func BenchmarkCooldown(b *testing.B) {
	for name, c := range map[string]struct {
		count  int64
		extend bool
	}{"admitted": {count: limiter.MaxCount}, "denied": {count: 1}, "extended": {count: 1, extend: true}} {
		b.Run(name, func(b *testing.B) {
			l := &limiter.Limit{Name: "bench", Algorithm: limiter.TokenBucket, Count: c.count, Period: time.Hour}
			table, call := newTable(), callOf(limiter.Take, somebody, l, 1)
			call.Charges[0].Cooldown, call.Charges[0].Extend = time.Hour, c.extend
			results := make([]limiter.Result, 1)
			b.ReportAllocs()
			for b.Loop() {
				if err := table.Do(limiter.At(epoch), call, results); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRenew is a renewal of the lease that lapses first, so that it is
// found at once and moved to the end.
func BenchmarkRenew(b *testing.B) {
	for _, holders := range []int{1, 100, limiter.MaxHolders} {
		b.Run(strconv.Itoa(holders), func(b *testing.B) {
			table, l := newTable(), slots(limiter.MaxHolders)
			call, results := leased(limiter.Acquire, 1, l), make([]limiter.Result, 1)
			ask := func(op limiter.Op, i int) {
				call.Op, call.Lease.Lo = op, uint64(i+1)
				if err := table.Do(limiter.At(epoch), call, results); err != nil || !results[0].Allowed {
					b.Fatal(results[0], err)
				}
			}
			for i := range holders {
				ask(limiter.Acquire, i)
			}
			for i := 0; b.Loop(); i++ {
				ask(limiter.Renew, i%holders)
			}
		})
	}
}

// A take and its settlement, beside open charges of others on the counter.
func BenchmarkSettle(b *testing.B) {
	l := &limiter.Limit{Name: "bench", Algorithm: limiter.FixedWindow, Count: limiter.MaxCount, Period: time.Hour}
	results := make([]limiter.Result, 1)
	for _, open := range []uint64{0, 100, 4000} {
		b.Run(fmt.Sprint("beside ", open), func(b *testing.B) {
			table, call := newTable(), receipted(0, l, 10)
			for call.Receipt.Lo < open {
				call.Receipt.Lo++
				do(b, table, epoch, call)
			}
			settle := settled(call, 3)
			b.ReportAllocs()
			for b.Loop() {
				call.Receipt.Lo++
				settle.Receipt = call.Receipt
				for _, c := range []*limiter.Call{call, settle} {
					if err := table.Do(limiter.At(epoch), c, results); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
