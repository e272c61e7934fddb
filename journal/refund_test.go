package journal

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// What was given back gets to the disk without anybody asking for it, and what
// is charged after that is on disk as ever.
func TestRefundsReachTheDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, c := openCounters(t, t.TempDir())
		const count = 10_000 // a chunk of 10
		var counted window
		uses := func(units int64) limiter.Window { return counted.is(limiter.Window{Used: units, End: far}) }
		wantDisk := func(mark int64) {
			t.Helper()
			time.Sleep(sweepEvery + 1)
			synctest.Wait()
			if disk := onDisk(t, j, idOf(1)); disk.mark != mark {
				t.Errorf("%d are used, and %d are on disk", counted.read().Used, disk.mark)
			}
		}
		mustKeep(t, c.Keep(idOf(1), uses(500), count))
		wantDisk(509)

		uses(100)
		c.LowerSoon(idOf(1), counted.read, count)
		wantDisk(109)
		mustKeep(t, c.Keep(idOf(1), uses(400), count))
		wantDisk(409)

		syncs := c.Stats().Syncs
		c.LowerSoon(idOf(1), counted.read, count) // charged again meanwhile
		wantDisk(409)
		if more := c.Stats().Syncs - syncs; more != 0 {
			t.Errorf("%d writes of nothing", more)
		}

		uses(0)
		c.LowerSoon(idOf(1), counted.read, count)
		c.LowerSoon(idOf(2), counted.read, count) // of which the disk knows nothing
		c.Close()
		if all, err := j.Bucket(counterBucket).All(); err != nil || len(all) != 0 {
			t.Errorf("%d records of what is unused, %v", len(all), err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// What was given back of a window says nothing of the next one.
func TestRefundOfAWindowThatIsOver(t *testing.T) {
	t.Parallel()
	j, c := openCounters(t, t.TempDir())
	const count = 1000 // a chunk of 1
	now := limiter.Window{Used: 5, End: far}
	mustKeep(t, c.Keep(idOf(1), now, count))
	c.LowerSoon(idOf(1), func() limiter.Window { return limiter.Window{Used: 2, End: far - 1} }, count)
	c.Close()
	if disk := onDisk(t, j, idOf(1)); disk.mark != 5 || disk.end != far {
		t.Errorf("%+v on disk, want %+v", disk, now)
	}
	closed(t, j)
}
