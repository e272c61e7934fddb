package limiter_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// bytesChooser makes decisions from a fuzzer's bytes, and always the first
// choice once they are used up.
type bytesChooser struct{ left []byte }

func (c *bytesChooser) choose(n int64) int64 {
	if len(c.left) == 0 || n < 2 {
		return 0
	}
	if n <= 256 {
		b := c.left[0]
		c.left = c.left[1:]
		return int64(b) % n
	}
	var word [8]byte
	c.left = c.left[copy(word[:], c.left):]
	return int64(binary.LittleEndian.Uint64(word[:]) % uint64(n))
}

// maxFuzzSteps bounds one history, as the oracle is slow.
const maxFuzzSteps = 60

// fuzzAgainstOracle plays the fuzzer's history of one counter, or of two
// that are charged together.
func fuzzAgainstOracle(f *testing.F, a limiter.Algorithm) {
	f.Helper()
	random := rand.New(rand.NewPCG(uint64(a), 1))
	for range 20 {
		seed := make([]byte, 40+random.IntN(200))
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &bytesChooser{left: data}
		algorithms := []limiter.Algorithm{a}
		if c.choose(4) == 0 {
			algorithms = append(algorithms, pick(c, spending...))
		}
		w := newWalk(c, algorithms...)
		for i := 0; i < maxFuzzSteps && len(c.left) > 0; i++ {
			if wrong := w.step(); wrong != "" {
				t.Fatalf("%s\n%s", w.log.String(), wrong)
			}
		}
	})
}

func FuzzTokenBucket(f *testing.F)   { fuzzAgainstOracle(f, limiter.TokenBucket) }
func FuzzLeakyBucket(f *testing.F)   { fuzzAgainstOracle(f, limiter.LeakyBucket) }
func FuzzQuota(f *testing.F)         { fuzzAgainstOracle(f, limiter.Quota) }
func FuzzFixedWindow(f *testing.F)   { fuzzAgainstOracle(f, limiter.FixedWindow) }
func FuzzSlidingWindow(f *testing.F) { fuzzAgainstOracle(f, limiter.SlidingWindow) }
func FuzzSlidingLog(f *testing.F)    { fuzzAgainstOracle(f, limiter.SlidingLog) }

// FuzzAnyNumbers gives limits and clocks that nobody validated: whatever they
// are, nothing panics, no answer is negative, and other counters stand.
func FuzzAnyNumbers(f *testing.F) {
	f.Add(uint8(1), int64(-1), int64(-1), int64(-1), int64(-1<<63), int64(1<<63-1), uint8(0))
	f.Add(uint8(4), int64(1<<63-1), int64(0), int64(1<<63-1), int64(1<<63-1), int64(1), uint8(9))
	f.Add(uint8(5), int64(1<<63-1), int64(1), int64(1<<63-1), int64(1<<63-1), int64(65536), uint8(77))
	f.Add(uint8(3), int64(5), int64(1<<63-1), int64(0), int64(-1<<63), int64(5), uint8(129))
	f.Fuzz(func(t *testing.T, algorithm uint8, count, period, burst, at, cost int64, align uint8) {
		table := limiter.NewTable(limiter.TableOptions{MaxKeys: 10})
		good := &limiter.Limit{Algorithm: limiter.SlidingLog, Count: 5, Period: limiter.MaxPeriod}
		start := do(t, table, min(at, 0), callOf(limiter.Take, somebody, good, 3))

		odd := &limiter.Limit{
			Algorithm: limiter.Algorithm(algorithm), Count: count, Period: time.Duration(period), Burst: burst,
			Align: limiter.Align(align % 5), Calendar: limiter.Calendar(align / 5), Anchor: int(burst),
		}
		call := callOf(limiter.Take, somebody, odd, cost)
		results := make([]limiter.Result, 1)
		ops := []limiter.Op{
			limiter.Take, limiter.Hold, limiter.Take, limiter.Confirm, // of the hold, if it was admitted
			limiter.Confirm, limiter.Confirm, limiter.Take, limiter.Hold, limiter.Peek, limiter.Cancel, limiter.Take, // of others
			limiter.Acquire, limiter.Renew, limiter.Take, limiter.Hold, limiter.Occupy, limiter.Release, limiter.Reset,
			limiter.Take, limiter.Settle, limiter.Take, limiter.Settle, limiter.Peek,
		}
		for i := range int64(len(ops)) {
			call.Op, call.Lapse = ops[i], limiter.MaxLapse
			call.Lease.Lo, call.TTL = 1, time.Duration(at)
			call.Hold.Lo = max(uint64(i), 3) - 2                // what follows a hold is about it
			call.Receipt.Lo, call.Charged = uint64(i/2), cost^i // and what follows a take
			if err := table.Do(limiter.Instant{Mono: at + i*period, Wall: at ^ i}, call, results); err != nil {
				continue // an algorithm that is none, a negative cost or TTL
			}
			if r := results[0]; r.Remaining < 0 || r.RetryAfter < limiter.Never || r.NextUnit < limiter.Never || r.ResetAfter < 0 || r.Delay < 0 {
				t.Errorf("%+v asked for %d at %d: %+v", odd, cost, at, r)
			}
			odd.WindowEnd(limiter.At(at))
			odd.Share(int(cost))
		}
		if got := do(t, table, min(at, 0), callOf(limiter.Peek, somebody, good, 3)); got.Remaining < start.Remaining {
			t.Errorf("another counter lost units: %+v, then %+v", start, got)
		}
	})
}
