package cluster

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// admitted asks the share n times and counts.
func admitted(t *testing.T, s *Share, call *limiter.Call, results []limiter.Result, n int) int {
	t.Helper()
	passed := 0
	for range n {
		if err := s.Do(call, results); err != nil {
			t.Fatal(err)
		}
		all := true
		for _, r := range results {
			if r.Source != limiter.SourceShare {
				t.Fatalf("source %v", r.Source)
			}
			all = all && r.Allowed
		}
		if all {
			passed++
		}
	}
	return passed
}

func TestShareIsOnePartRoundedDown(t *testing.T) {
	t.Parallel()
	limit := func(a limiter.Algorithm, count, burst int64) limiter.Limit {
		return limiter.Limit{Name: "l", Algorithm: a, Count: count, Period: time.Hour, Burst: burst}
	}
	for _, row := range []struct {
		name  string
		limit limiter.Limit
		want  int
	}{
		{"bucket", limit(limiter.TokenBucket, 100, 0), 33},
		{"bucket with burst", limit(limiter.TokenBucket, 100, 20), 6},
		{"window", limit(limiter.FixedWindow, 10, 0), 3},
		{"sliding window", limit(limiter.SlidingWindow, 11, 0), 3},
		{"log", limit(limiter.SlidingLog, 3, 0), 1},
		{"less than one each", limit(limiter.SlidingLog, 2, 0), 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil, "a", "b", "c")
			call, results := take(subjectOf(t, f.view, "b"), row.limit)
			if got := admitted(t, f.share, call, results, 120); got != row.want {
				t.Errorf("admitted %d, want %d", got, row.want)
			}
			if results[0].Limit != row.limit.Count {
				t.Errorf("the limit reads %d", results[0].Limit)
			}
		})
	}
}

// A share of nothing, or too small for the cost, denies for a finite time:
// the owner may be back by then.
func TestShareThatNeverAdmitsSaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // bubbles begin at midnight UTC
		time.Sleep(10 * time.Minute)
		window := limiter.Limit{Name: "w", Algorithm: limiter.FixedWindow, Count: 2, Period: time.Hour}
		bucket := limiter.Limit{Name: "b", Algorithm: limiter.TokenBucket, Count: 30, Period: time.Minute}
		f := newFixture(t, nil, "a", "b", "c")
		subject := subjectOf(t, f.view, "b")
		for _, row := range []struct {
			limit limiter.Limit
			cost  int64
			want  time.Duration
		}{
			{window, 1, time.Minute},   // and not until the hour is over
			{window, 3, limiter.Never}, // more than the limit itself
			{bucket, 20, time.Minute},
			{bucket, 31, limiter.Never},
		} {
			call, results := take(subject, row.limit)
			call.Charges[0].Cost = row.cost
			if got := admitted(t, f.share, call, results, 1); got != 0 || results[0].RetryAfter != row.want {
				t.Errorf("%s cost %d: admitted %d, %+v", row.limit.Name, row.cost, got, results[0])
			}
		}
	})
}

// Several limits are charged all or none, also when one has no share.
func TestShareChargesAllOrNone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil, "a", "b", "c")
	subject := subjectOf(t, f.view, "b")
	wide, none := perHour(30), perHour(2)
	wide.Name, none.Name = "wide", "none"
	call, results := take(subject, wide, none)
	if got := admitted(t, f.share, call, results, 20); got != 0 {
		t.Errorf("admitted %d", got)
	}
	call, results = take(subject, wide)
	if got := admitted(t, f.share, call, results, 20); got != 10 {
		t.Errorf("afterwards the wide limit admitted %d, want its whole share of 10", got)
	}
}

// A share that has denied goes on denying for as long as the limit would.
func TestShareCoolsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, "a", "b", "c")
		call, results := take(subjectOf(t, f.view, "b"), limiter.Limit{Name: "l", Algorithm: limiter.TokenBucket, Count: 3, Period: time.Second})
		call.Charges[0].Cooldown, call.Charges[0].Extend = time.Minute, true
		for i, row := range []struct {
			after    time.Duration
			admitted int
			want     time.Duration
		}{
			{0, 1, time.Minute},
			{30 * time.Second, 0, time.Minute},
			{time.Minute, 1, time.Minute},
		} {
			time.Sleep(row.after)
			if got := admitted(t, f.share, call, results, 3); got != row.admitted || results[0].RetryAfter != row.want {
				t.Errorf("row %d: admitted %d, %+v", i, got, results[0])
			}
		}
	})
}

func TestClientsShareWithOwners(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil, "b", "c") // a is a client
	f.view.Role, f.view.Clients = RoleClient, 3
	call, results := take(subjectOf(t, f.view, "b"), perHour(100))
	if got := admitted(t, f.share, call, results, 100); got != 20 {
		t.Errorf("one of 2 owners and 3 clients admitted %d of 100", got)
	}
}

// An owner that does not know the others, such as one that is starting, must
// not take the whole limit for its share.
func TestNoShareWithoutOwners(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	call, results := take(limiter.Subject{Hi: 1}, perHour(100))
	if err := f.share.Do(call, results); !errors.Is(err, ErrNoOwner) {
		t.Errorf("error %v, results %+v", err, results)
	}
}

// What was charged of a share is settled there, also when more nodes divide the
// limit by then, and this one's part is nothing.
func TestShareSettlesWhatItHasCharged(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil, "a")
	whole := f.view
	call, results := take(subjectOf(t, f.view, "a"), perHour(3))
	call.Receipt, call.Charges[0].Cost = limiter.ReceiptID{Lo: 1}, 3
	if err := f.share.Do(call, results); err != nil || !results[0].Allowed {
		t.Fatalf("%v, %+v", err, results)
	}
	f.view = testView(t, nil, "a", "b", "c", "d")
	settle := *call
	settle.Op, settle.Charged = limiter.Settle, 3
	settle.Charges = []limiter.Charge{call.Charges[0]}
	settle.Charges[0].Cost = 1
	if err := f.share.Do(&settle, results); err != nil || !results[0].Allowed {
		t.Errorf("%v, %+v", err, results)
	}
	f.view = whole
	call.Op = limiter.Peek
	if err := f.share.Do(call, results); err != nil || results[0].Remaining != 2 {
		t.Errorf("%v, %+v; want 2 left", err, results)
	}
}
