package murmurate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Virtual time begins at the beginning of 2000, UTC.

// plan has a rate and a monthly quota in one policy.
var plan = policy.Policy{Name: "plan", Limits: []limiter.Limit{
	{Name: "second", Algorithm: limiter.TokenBucket, Count: 2, Period: time.Second},
	{Name: "month", Algorithm: limiter.Quota, Count: 4, Period: 30 * 24 * time.Hour,
		Align: limiter.AlignCalendar, Calendar: limiter.Month, Unit: limiter.Tokens},
}}

// A policy's status on a denial is that of the limit with the longest wait.
func TestQuotaDeniesOtherwiseThanARate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		observed := &observer{seen: make(map[string]int)}
		node := start(t, murmurate.Options{Alone: true, Observer: observed, Policies: policies(t, plan)})
		const january = 31 * 24 * time.Hour
		for i, step := range []struct {
			wait    time.Duration
			cost    int64
			allowed bool
			status  int
			retry   time.Duration
			what    string
		}{
			{0, 2, true, 0, 0, "half of the quota, all of the second"},
			{0, 1, false, 0, time.Second / 2, "too fast"},
			{time.Second, 2, true, 0, 0, "the other half"},
			{0, 1, false, policy.QuotaDenyStatus, january - time.Second, "both are used up, and the month is longer"},
			{time.Second, 1, false, policy.QuotaDenyStatus, january - 2*time.Second, "the quota alone"},
			{0, 3, false, 0, limiter.Never, "more than a second ever holds, which no wait mends"},
			{january - 2*time.Second - 1, 1, false, policy.QuotaDenyStatus, 1, "the last moment of January"},
			{1, 2, true, 0, 0, "February"},
		} {
			time.Sleep(step.wait)
			d, err := node.AllowN(t.Context(), "plan", "user", step.cost)
			if err != nil {
				t.Fatal(err)
			}
			if d.Allowed != step.allowed || d.DenyStatus != step.status && !step.allowed || d.RetryAfter != step.retry {
				t.Errorf("step %d, %s: allowed %t, status %d, retry after %v; want %+v", i, step.what, d.Allowed, d.DenyStatus, d.RetryAfter, step)
			}
			if unit := d.Limits[1].Unit; unit != limiter.Tokens {
				t.Errorf("unit %v", unit)
			}
		}
		for what, times := range map[string]int{"plan/month used 0.5": 3, "plan/month used 1": 5} {
			if observed.seen[what] != times {
				t.Errorf("%s: %d times, want %d of %v", what, observed.seen[what], times, observed.seen)
			}
		}
	})
}

// What is set for a policy is for its quotas, too.
func TestDenyStatusOfAPolicyWithAQuota(t *testing.T) {
	t.Parallel()
	own := plan
	own.DenyStatus = 402
	node := start(t, murmurate.Options{Alone: true, Policies: policies(t, own)})
	for range 2 {
		if _, err := node.AllowN(t.Context(), "plan", "user", 5); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := node.AllowN(t.Context(), "plan", "user", 5); err != nil || d.Allowed || d.DenyStatus != 402 {
		t.Errorf("%+v, %v", d, err)
	}
}

// A ratio is that of two whole numbers, and has no other digits.
func TestQuotaUseIsExact(t *testing.T) {
	t.Parallel()
	own := policy.Policy{Name: "own", Limits: []limiter.Limit{{Name: "hour", Algorithm: limiter.Quota, Count: 1000, Period: time.Hour}}}
	observed := &observer{seen: make(map[string]int)}
	node := start(t, murmurate.Options{Alone: true, Observer: observed, Policies: policies(t, own)})
	if d, err := node.AllowN(t.Context(), "own", "user", 6); err != nil || !d.Allowed {
		t.Fatalf("%+v, %v", d, err)
	}
	if observed.seen["own/hour used 0.006"] != 1 {
		t.Errorf("heard %v", observed)
	}
}

// A key that nobody serves for a while, or at all, has not used up its quota.
func TestQuotaUseOfKeysThatAreDeniedOtherwise(t *testing.T) {
	t.Parallel()
	own := policy.Policy{Name: "own", Limits: plan.Limits[1:], Cooldown: policy.Cooldown{For: time.Hour}, Overrides: []policy.Override{{Key: "nobody", Blocked: true}}}
	observed := &observer{seen: make(map[string]int)}
	node := start(t, murmurate.Options{Alone: true, Observer: observed, Policies: policies(t, own)})
	for _, step := range []struct {
		key     string
		cost    int64
		allowed bool
	}{
		{"user", 3, true},
		{"user", 3, false},
		{"user", 1, false},
		{"nobody", 1, false},
	} {
		if d, err := node.AllowN(t.Context(), "own", step.key, step.cost); err != nil || d.Allowed != step.allowed {
			t.Errorf("%+v: %+v, %v", step, d, err)
		}
	}
	if observed.seen["own/month used 0.75"] != 1 || observed.seen["own/month used 1"] != 0 {
		t.Errorf("heard %v", observed)
	}
}
