package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Of two counters that one name may mean, each limit shows the one that tells
// more: a bucket that is full again hides no used quota.
func TestMostUsed(t *testing.T) {
	t.Parallel()
	plan := NewPlan(&Policy{Name: "p", Limits: []limiter.Limit{
		{Name: "rate", Algorithm: limiter.TokenBucket, Count: 10, Period: time.Second},
		{Name: "month", Algorithm: limiter.Quota, Count: 100, Period: 30 * 24 * time.Hour},
	}})
	left := func(rate, month int64) Decision {
		result := func(of, left int64) limiter.Result {
			r := limiter.Result{Allowed: left > 0, Limit: of, Remaining: left}
			if left < of {
				r.ResetAfter = time.Minute
			}
			if left == 0 {
				r.RetryAfter = time.Minute
			}
			return r
		}
		return plan.Decide(1, []limiter.Result{result(10, rate), result(100, month)})
	}
	from := func(source limiter.Source, d Decision) Decision {
		for i := range d.Limits {
			d.Limits[i].Source = source
		}
		d.conclude()
		return d
	}
	blocked, _ := (&Applied{Plan: plan, Blocked: true}).Uncounted()
	unlimited, _ := (&Applied{Plan: plan, Unlimited: true}).Uncounted()
	for _, row := range []struct {
		what      string
		a, b      Decision
		left      []int64 // of each limit
		allowed   bool
		remaining int64
		source    limiter.Source
	}{
		{"the bucket is full again", left(10, 100), left(10, 40), []int64{10, 40}, true, 10, limiter.SourceOwner},
		{"each of another counter", left(3, 90), left(10, 40), []int64{3, 40}, true, 3, limiter.SourceOwner},
		{"one is used up", left(9, 100), left(10, 0), []int64{9, 0}, false, 0, limiter.SourceOwner},
		{"one is blocked", left(9, 40), blocked, []int64{0, 0}, false, 0, limiter.SourceOwner},
		{"one is unlimited", unlimited, left(9, 40), []int64{9, 40}, true, 9, limiter.SourceOwner},
		{"both are", unlimited, unlimited, nil, true, 0, limiter.SourceNone},
		{"one is not known", left(2, 40), from(limiter.SourceShare, left(5, 50)), []int64{5, 50}, true, 5, limiter.SourceShare},
	} {
		for _, d := range []Decision{MostUsed(row.a, row.b), MostUsed(row.b, row.a)} {
			var got []int64
			for i := range d.Limits {
				got = append(got, d.Limits[i].Remaining)
			}
			if !slices.Equal(got, row.left) || d.Allowed != row.allowed || d.Remaining != row.remaining || d.Source != row.source || d.Policy != "p" {
				t.Errorf("%s: %v left, %+v; want %+v", row.what, got, d, row)
			}
		}
	}
}
