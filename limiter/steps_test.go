package limiter_test

import (
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

const (
	never = limiter.Never
	ms    = time.Millisecond
	sec   = time.Second
)

// step is one call at a time after the epoch and its whole answer.
type step struct {
	at    time.Duration
	cost  int64
	count int64 // the limit's count from here on; 0 leaves it

	allowed                           bool
	remaining                         int64
	retryAfter, nextUnit, reset, wait time.Duration
}

func TestSteps(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		limit limiter.Limit
		steps []step
	}{
		{"token bucket", limiter.Limit{Algorithm: limiter.TokenBucket, Count: 2, Period: sec, Burst: 3}, []step{
			{at: 0, cost: 0, allowed: true, remaining: 3},
			{at: 0, cost: 2, allowed: true, remaining: 1, nextUnit: 500 * ms, reset: sec},
			{at: 0, cost: 2, remaining: 1, retryAfter: 500 * ms, nextUnit: 500 * ms, reset: sec},
			{at: 250 * ms, cost: 1, allowed: true, remaining: 0, nextUnit: 250 * ms, reset: 1250 * ms},
			{at: 0, cost: 1, remaining: 0, retryAfter: 250 * ms, nextUnit: 250 * ms, reset: 1250 * ms}, // back: counts at 250 ms
			{at: 500 * ms, cost: 1, allowed: true, remaining: 0, nextUnit: 500 * ms, reset: 1500 * ms},
			{at: 500 * ms, cost: 4, remaining: 0, retryAfter: never, nextUnit: 500 * ms, reset: 1500 * ms},
			{at: 2 * sec, cost: 3, allowed: true, remaining: 0, nextUnit: 500 * ms, reset: 1500 * ms},
		}},
		{"token bucket, another count", limiter.Limit{Algorithm: limiter.TokenBucket, Count: 10, Period: sec}, []step{
			{at: 0, cost: 8, allowed: true, remaining: 2, nextUnit: 100 * ms, reset: 800 * ms},
			{at: 0, cost: 1, count: 5, remaining: 0, retryAfter: 800 * ms, nextUnit: 800 * ms, reset: 1600 * ms},
			{at: 0, cost: 1, count: 20, allowed: true, remaining: 11, nextUnit: 50 * ms, reset: 450 * ms},
		}},
		{"leaky bucket", limiter.Limit{Algorithm: limiter.LeakyBucket, Count: 2, Period: sec, Burst: 1}, []step{
			{at: 0, cost: 1, allowed: true, remaining: 1, nextUnit: 500 * ms, reset: 500 * ms},
			{at: 0, cost: 1, allowed: true, remaining: 0, nextUnit: 500 * ms, reset: sec, wait: 500 * ms},
			{at: 0, cost: 1, remaining: 0, retryAfter: 500 * ms, nextUnit: 500 * ms, reset: sec},
			{at: 750 * ms, cost: 0, allowed: true, remaining: 1, nextUnit: 250 * ms, reset: 250 * ms},
			{at: 100 * ms, cost: 1, allowed: true, remaining: 0, nextUnit: 250 * ms, reset: 750 * ms, wait: 250 * ms}, // back
			{at: 9 * sec, cost: 2, allowed: true, remaining: 0, nextUnit: 500 * ms, reset: sec, wait: 500 * ms},
		}},
		{"fixed window", limiter.Limit{Algorithm: limiter.FixedWindow, Count: 3, Period: 10 * sec}, []step{ // the epoch is 2 s into a window
			{at: 0, cost: 2, allowed: true, remaining: 1, nextUnit: 8 * sec, reset: 8 * sec},
			{at: sec, cost: 2, remaining: 1, retryAfter: 7 * sec, nextUnit: 7 * sec, reset: 7 * sec},
			{at: -5 * sec, cost: 1, allowed: true, remaining: 0, nextUnit: 7 * sec, reset: 7 * sec}, // back: no new window
			{at: 8*sec - 1, cost: 1, remaining: 0, retryAfter: 1, nextUnit: 1, reset: 1},
			{at: 8 * sec, cost: 3, allowed: true, remaining: 0, nextUnit: 10 * sec, reset: 10 * sec},
			{at: 0, cost: 1, remaining: 0, retryAfter: 10 * sec, nextUnit: 10 * sec, reset: 10 * sec}, // a closed window stays closed
		}},
		{"first window", limiter.Limit{Algorithm: limiter.FixedWindow, Count: 2, Period: 10 * sec, Align: limiter.AlignFirst}, []step{
			{at: 0, cost: 3, remaining: 2, retryAfter: never}, // a denied call opens nothing
			{at: sec, cost: 1, allowed: true, remaining: 1, nextUnit: 10 * sec, reset: 10 * sec},
			{at: 11*sec - 1, cost: 1, allowed: true, remaining: 0, nextUnit: 1, reset: 1},
			{at: 11 * sec, cost: 0, allowed: true, remaining: 2}, // nor does one of cost 0
			{at: 15 * sec, cost: 2, allowed: true, remaining: 0, nextUnit: 10 * sec, reset: 10 * sec},
		}},
		{"sliding window", limiter.Limit{Algorithm: limiter.SlidingWindow, Count: 4, Period: 10 * sec}, []step{
			{at: 0, cost: 4, allowed: true, remaining: 0, nextUnit: 8*sec + 2500*ms, reset: 18 * sec},
			{at: 8 * sec, cost: 1, remaining: 0, retryAfter: 2500 * ms, nextUnit: 2500 * ms, reset: 10 * sec},
			{at: 13 * sec, cost: 2, allowed: true, remaining: 0, nextUnit: 2500 * ms, reset: 15 * sec},
			{at: 8 * sec, cost: 1, remaining: 0, retryAfter: 2500 * ms, nextUnit: 2500 * ms, reset: 15 * sec}, // back
			{at: 13 * sec, cost: 4, remaining: 0, retryAfter: 15 * sec, nextUnit: 2500 * ms, reset: 15 * sec}, // in the next window
			{at: 28 * sec, cost: 4, allowed: true, remaining: 0, nextUnit: 12500 * ms, reset: 20 * sec},
		}},
		{"sliding log", limiter.Limit{Algorithm: limiter.SlidingLog, Count: 3, Period: 10 * sec}, []step{
			{at: 0, cost: 1, allowed: true, remaining: 2, nextUnit: 10 * sec, reset: 10 * sec},
			{at: sec, cost: 2, allowed: true, remaining: 0, nextUnit: 9 * sec, reset: 10 * sec},
			{at: sec, cost: 2, remaining: 0, retryAfter: 10 * sec, nextUnit: 9 * sec, reset: 10 * sec},
			{at: 10*sec - 1, cost: 1, remaining: 0, retryAfter: 1, nextUnit: 1, reset: sec + 1},
			{at: 10 * sec, cost: 1, allowed: true, remaining: 0, nextUnit: sec, reset: 10 * sec},
			{at: 2 * sec, cost: 1, remaining: 0, retryAfter: sec, nextUnit: sec, reset: 10 * sec}, // back
			{at: 10 * sec, cost: 1, count: 1, remaining: 0, retryAfter: 10 * sec, nextUnit: 10 * sec, reset: 10 * sec},
		}},
		{"count 0", limiter.Limit{Algorithm: limiter.TokenBucket, Period: sec, Burst: 5}, []step{
			{at: 0, cost: 1, retryAfter: never, nextUnit: never},
			{at: sec, cost: 0, retryAfter: never, nextUnit: never},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			table := newTable()
			limit := test.limit
			for i, s := range test.steps {
				if s.count > 0 {
					limit.Count = s.count
				}
				want := limiter.Result{
					Allowed: s.allowed, Limit: limit.Count, Remaining: s.remaining,
					RetryAfter: s.retryAfter, NextUnit: s.nextUnit, ResetAfter: s.reset, Delay: s.wait,
				}
				if got := take(t, table, &limit, s.at, s.cost); got != want {
					t.Fatalf("step %d:\n got %+v\nwant %+v", i, got, want)
				}
			}
		})
	}
}
