package limiter_test

import (
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// A plan that begins on the 31st in Sao Paulo, for seven years: each month has
// its units once, from its first to its last moment, whatever the clock does
// at the edge.
func TestQuotaOfTheThirtyFirst(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	limit := &limiter.Limit{
		Algorithm: limiter.Quota, Count: 3, Period: 30 * 24 * time.Hour,
		Align: limiter.AlignCalendar, Calendar: limiter.Month, Zone: zone, Anchor: 31,
	}
	table := newTable()
	mono := int64(0)
	ask := func(wall time.Time, cost int64) limiter.Result {
		mono++
		call := callOf(limiter.Take, somebody, limit, cost)
		results := make([]limiter.Result, 1)
		if err := table.Do(limiter.Instant{Mono: mono, Wall: wall.UnixNano()}, call, results); err != nil {
			t.Fatal(err)
		}
		return results[0]
	}
	// The last day of each month, and of the months that have it the 31st.
	begin := func(year int, month time.Month) time.Time {
		return time.Date(year, month+1, 0, 0, 0, 0, 0, zone)
	}
	for year := 2024; year <= 2030; year++ {
		for month := time.January; month <= time.December; month++ {
			from, to := begin(year, month), begin(year, month+1)
			if r := ask(from, 2); !r.Allowed || r.Remaining != 1 || r.ResetAfter != to.Sub(from) {
				t.Fatalf("%v: the first moment: %+v, want it to end at %v", from, r, to)
			}
			last := to.Add(-1)
			if r := ask(last, 2); r.Allowed || r.RetryAfter != 1 {
				t.Fatalf("%v: the last moment: %+v", last, r)
			}
			if r := ask(last, 1); !r.Allowed || r.Remaining != 0 {
				t.Fatalf("%v: the last unit: %+v", last, r)
			}
			// A clock that is put back by an hour, and forth again, opens nothing.
			if r := ask(last.Add(-time.Hour), 1); r.Allowed {
				t.Fatalf("%v: an hour back: %+v", last, r)
			}
			if r := ask(last, 1); r.Allowed {
				t.Fatalf("%v: and forth: %+v", last, r)
			}
		}
	}
}
