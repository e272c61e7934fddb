package journal

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

// far is a window that does not end during a test.
const far = int64(1) << 62

// openCounters is a journal and its counters, which the test closes.
func openCounters(t testing.TB, dir string) (*Journal, *Counters) {
	t.Helper()
	j, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := j.Counters(slog.New(slog.DiscardHandler), time.Now().UnixNano())
	if err != nil {
		t.Fatal(err)
	}
	return j, c
}

func closeCounters(t testing.TB, j *Journal, c *Counters) {
	t.Helper()
	c.Close()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func idOf(n uint64) limiter.CounterID {
	return limiter.CounterID{Subject: limiter.Subject{Hi: n, Lo: ^n}, Tag: n * 31, Algorithm: limiter.Quota}
}

// onDisk is what a process that starts now would find.
func onDisk(t interface{ Fatal(...any) }, j *Journal, id limiter.CounterID) counter {
	all, err := j.Bucket(counterBucket).All()
	if err != nil {
		t.Fatal(err)
	}
	r, _ := decodeCounter(counterKey(id), all[counterKey(id)])
	return r
}

func mustKeep(t testing.TB, kept func(time.Duration) error) {
	t.Helper()
	if kept == nil {
		return
	}
	if err := kept(time.Minute); err != nil {
		t.Fatal(err)
	}
}

// window is what a counter has counted, for a test and the flusher to look at.
type window struct {
	mu  sync.Mutex
	now limiter.Window
}

func (w *window) is(now limiter.Window) limiter.Window {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
	return now
}

func (w *window) read() limiter.Window {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Whatever is kept is on disk when that is said, and never more than a chunk
// beyond it.
func TestCountersAreOnDiskBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		db, err := bbolt.Open(filepath.Join(dir, fmt.Sprint(runs)), 0o600, &bbolt.Options{NoSync: true}) // what is committed is what counts here
		if err != nil {
			t.Fatal(err)
		}
		j := &Journal{db: db}
		defer j.Close()
		c, err := j.Counters(slog.New(slog.DiscardHandler), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		count := rapid.SampledFrom([]int64{1, 10, 5000, 100_000}).Draw(t, "count")
		chunk := chunkOf(count)
		var windows [3]window
		var refunded [3]bool
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			n := rapid.Uint64Range(0, 2).Draw(t, "counter")
			id, counted := idOf(n), &windows[n]
			w := counted.read()
			var kept func(time.Duration) error
			switch rapid.SampledFrom([]string{"take", "take", "take", "window", "reset", "lower", "refund", "sweep"}).Draw(t, "step") {
			case "take":
				w = counted.is(limiter.Window{Used: w.Used + rapid.Int64Range(1, chunk+2).Draw(t, "units"), End: max(w.End, far)})
				kept = c.Keep(id, w, count)
			case "window":
				w = counted.is(limiter.Window{Used: 1, End: max(w.End, far) + 1})
				kept = c.Keep(id, w, count)
			case "reset":
				w = counted.is(limiter.Window{})
				kept = c.Lower(id, counted.read, count)
			case "lower": // somebody has taken before the journal was told of the reset
				w = counted.is(limiter.Window{Used: min(w.Used, 1), End: w.End})
				kept = c.Lower(id, counted.read, count)
			case "refund":
				counted.is(limiter.Window{Used: w.Used - min(w.Used, rapid.Int64Range(1, chunk+2).Draw(t, "units")), End: w.End})
				c.LowerSoon(id, counted.read, count)
				refunded[n] = true
				continue // nobody waits for it
			case "sweep":
				c.lowerRefunds()
				continue
			}
			if kept != nil && !rapid.Bool().Draw(t, "wait") {
				continue
			}
			if kept != nil {
				if err := kept(time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			disk := onDisk(t, j, id)
			if w.Used > 0 && (disk.end != w.End || disk.mark < w.Used) {
				t.Fatalf("counted %+v, of which %+v is on disk", w, disk)
			}
			if kept != nil && !refunded[n] && disk.mark > max(w.Used+chunk-1, 0) { // otherwise a reset can still be on its way
				t.Fatalf("counted %+v, and %+v is on disk", w, disk)
			}
		}
	})
	if runs == 0 {
		t.Error("nothing was tried")
	}
}

// Many at once: nothing that was acknowledged is missing, and the disk is
// waited for far less often than there are calls.
func TestCountersShareTheWaitForTheDisk(t *testing.T) {
	t.Parallel()
	j, c := openCounters(t, t.TempDir())
	const workers, calls, count = 32, 50, 1000
	var used [4]atomic.Int64
	var work sync.WaitGroup
	for w := range workers {
		work.Go(func() {
			for range calls {
				n := uint64(w % len(used))
				u := used[n].Add(1)
				mustKeep(t, c.Keep(idOf(n), limiter.Window{Used: u, End: far}, count))
				if disk := onDisk(t, j, idOf(n)); disk.mark < u {
					t.Errorf("%d was acknowledged and %d is on disk", u, disk.mark)
				}
			}
		})
	}
	work.Wait()
	stats := c.Stats()
	if all := int64(workers * calls); stats.Syncs == 0 || stats.Syncs > all/4 || stats.Failures != 0 {
		t.Errorf("%+v for %d calls", stats, all)
	}
	closeCounters(t, j, c)
}

// A chunk spares nearly all calls the wait.
func TestChunksSpareTheWait(t *testing.T) {
	t.Parallel()
	j, c := openCounters(t, t.TempDir())
	waited := 0
	const calls, count = 10_000, 1_000_000 // a chunk of 1,000
	for u := range int64(calls) {
		if kept := c.Keep(idOf(1), limiter.Window{Used: u + 1, End: far}, count); kept != nil {
			waited++
			mustKeep(t, kept)
		}
	}
	if stats := c.Stats(); waited > calls/1000+1 || stats.Syncs > 2*calls/1000+2 {
		t.Errorf("%d of %d calls waited; %+v", waited, calls, stats)
	}
	c.Close()
	if disk := onDisk(t, j, idOf(1)); disk.mark < calls || disk.mark >= calls+1000 {
		t.Errorf("%d on disk", disk.mark)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCountersSurvive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, c := openCounters(t, dir)
	for n := range uint64(100) {
		mustKeep(t, c.Keep(idOf(n), limiter.Window{Used: int64(n) + 1, End: far}, 10))
	}
	mustKeep(t, c.Keep(idOf(100), limiter.Window{Used: 5, End: 1}, 10)) // has ended by the next start
	closeCounters(t, j, c)
	j, c = openCounters(t, dir)
	found := make(map[limiter.CounterID]limiter.Window)
	if err := c.Each(func(id limiter.CounterID, w limiter.Window) error { found[id] = w; return nil }); err != nil {
		t.Fatal(err)
	}
	for n := range uint64(100) {
		if w := found[idOf(n)]; w != (limiter.Window{Used: int64(n) + 1, End: far}) {
			t.Errorf("counter %d is %+v", n, w)
		}
	}
	if all, err := j.Bucket(counterBucket).All(); err != nil || len(found) != 100 || len(all) != 100 {
		t.Errorf("%d counters in %d records, %v", len(found), len(all), err)
	}
	closeCounters(t, j, c)
}

// What has ended leaves no record behind, however much there is.
func TestSweepDropsWhatHasEnded(t *testing.T) {
	t.Parallel()
	j, c := openCounters(t, t.TempDir())
	const old, live = 3 * sweepCounters, 10
	var last func(time.Duration) error
	for n := range uint64(old + live) {
		end := time.Now().Add(time.Hour).UnixNano()
		if n >= old {
			end = far
		}
		last = c.Keep(idOf(n), limiter.Window{Used: 1, End: end}, 10)
	}
	mustKeep(t, last)
	c.Close() // so that the sweeps below are the only ones
	for sweeps := 0; c.Len() > live && sweeps < 1000; sweeps++ {
		c.sweep(time.Now().Add(time.Hour).UnixNano())
	}
	all, err := j.Bucket(counterBucket).All()
	if err != nil || len(all) != live || c.Len() != live {
		t.Errorf("%d records and %d marks are left, want %d; %v", len(all), c.Len(), live, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// A disk that fails is an error for those who wait, and asked again for the
// next.
func TestFailedWritesAreToldAndTriedAgain(t *testing.T) {
	t.Parallel()
	j, c := openCounters(t, t.TempDir())
	mustKeep(t, c.Keep(idOf(1), limiter.Window{Used: 1, End: far}, 10))
	if err := j.Close(); err != nil { // every transaction fails from here on
		t.Fatal(err)
	}
	for used := range int64(3) {
		kept := c.Keep(idOf(1), limiter.Window{Used: used + 2, End: far}, 10)
		if kept == nil {
			t.Fatal("it is said to be on disk")
		}
		if err := kept(time.Minute); err == nil {
			t.Error("it is said to be on disk, after a wait")
		}
	}
	if s := c.Stats(); s.Failures != 3 {
		t.Errorf("%+v", s)
	}
	c.Close()
}

// BenchmarkKeep is the cost of a durable call: alone, and with 32 at once.
func BenchmarkKeep(b *testing.B) {
	for _, count := range []int64{1000, 1_000_000} {
		for _, width := range []int{1, 32} {
			name := "every call waits"
			if count > 1000 {
				name = "one in a thousand waits"
			}
			b.Run(name+", "+map[int]string{1: "one caller", 32: "32 callers"}[width], func(b *testing.B) {
				j, c := openCounters(b, b.TempDir())
				var used atomic.Int64
				b.SetParallelism(width)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						mustKeep(b, c.Keep(idOf(1), limiter.Window{Used: used.Add(1), End: far}, count))
					}
				})
				b.ReportMetric(float64(c.Stats().Syncs)/float64(b.N), "syncs/op")
				closeCounters(b, j, c)
			})
		}
	}
}
