package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func TestLimitLike(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("UTC-3", -3*3600)
	bucket := limiter.Limit{Name: "burst", Algorithm: limiter.TokenBucket, Count: 20, Period: time.Second, Burst: 40}
	monthly := limiter.Limit{
		Name: "month", Algorithm: limiter.FixedWindow, Count: 1000, Period: 30 * day,
		Align: limiter.AlignCalendar, Calendar: limiter.Month, Zone: zone, Anchor: 5,
	}
	plan := monthly
	plan.Name, plan.Algorithm, plan.Unit, plan.Durable = "plan", limiter.Quota, limiter.Bytes, true
	first := limiter.Limit{Name: "trial", Algorithm: limiter.FixedWindow, Count: 50, Period: 7 * day, Align: limiter.AlignFirst}
	of := func(l limiter.Limit, change func(l *limiter.Limit)) limiter.Limit {
		change(&l)
		return l
	}
	slots := limiter.Limit{Name: "slots", Algorithm: limiter.Concurrency, Count: 5, Period: 90 * time.Second}
	for _, c := range []struct {
		text string
		own  limiter.Limit
		want limiter.Limit
	}{
		{`{"name":"burst","rate":"200/s"}`, bucket, of(bucket, func(l *limiter.Limit) { l.Count, l.Burst = 200, 0 })},
		{`{"name":"burst","rate":"200/s","burst":300}`, bucket, of(bucket, func(l *limiter.Limit) { l.Count, l.Burst = 200, 300 })},
		{`{"name":"burst","rate":"200/min","algorithm":"sliding_window"}`, bucket,
			limiter.Limit{Name: "burst", Algorithm: limiter.SlidingWindow, Count: 200, Period: time.Minute}},
		{`{"name":"month","rate":"5000/month"}`, monthly, of(monthly, func(l *limiter.Limit) { l.Count = 5000 })},
		{`{"name":"month","rate":"5000/720h"}`, monthly, of(monthly, func(l *limiter.Limit) { l.Count = 5000 })},
		{`{"name":"month","rate":"5000/month","anchor":9}`, monthly, of(monthly, func(l *limiter.Limit) { l.Count, l.Anchor = 5000, 9 })},
		{`{"name":"month","rate":"5000/month","timezone":"UTC"}`, monthly, of(monthly, func(l *limiter.Limit) { l.Count, l.Zone = 5000, time.UTC })},
		{`{"name":"month","rate":"5000/720h","timezone":"UTC"}`, monthly, of(monthly, func(l *limiter.Limit) { l.Count, l.Zone = 5000, time.UTC })},
		{`{"name":"month","rate":"50/day"}`, monthly,
			of(monthly, func(l *limiter.Limit) { l.Count, l.Period, l.Calendar, l.Anchor = 50, day, limiter.Day, 0 })},
		{`{"name":"month","rate":"5000/month","align":"epoch"}`, monthly,
			limiter.Limit{Name: "month", Algorithm: limiter.FixedWindow, Count: 5000, Period: 30 * day}},
		{`{"name":"month","rate":"500/7d","align":"first"}`, monthly,
			limiter.Limit{Name: "month", Algorithm: limiter.FixedWindow, Count: 500, Period: 7 * day, Align: limiter.AlignFirst}},
		{`{"name":"month","rate":"50/h"}`, monthly, limiter.Limit{Name: "month", Algorithm: limiter.FixedWindow, Count: 50, Period: time.Hour}},
		{`{"name":"month","rate":"5000/month","algorithm":"fixed_window"}`, monthly, of(monthly, func(l *limiter.Limit) { l.Count = 5000 })},
		{`{"name":"plan","rate":"50G/month"}`, plan, of(plan, func(l *limiter.Limit) { l.Count = 50_000_000_000 })},
		{`{"name":"plan","rate":"9/month","unit":"tokens","durable":false}`, plan,
			of(plan, func(l *limiter.Limit) { l.Count, l.Unit, l.Durable = 9, limiter.Tokens, false })},
		{`{"name":"plan","rate":"9/month","algorithm":"fixed_window"}`, plan,
			of(plan, func(l *limiter.Limit) { l.Count, l.Algorithm = 9, limiter.FixedWindow })},
		{`{"name":"plan","rate":"9/s","algorithm":"token_bucket"}`, plan,
			limiter.Limit{Name: "plan", Algorithm: limiter.TokenBucket, Count: 9, Period: time.Second, Unit: limiter.Bytes}},
		{`{"name":"slots","count":8}`, slots, of(slots, func(l *limiter.Limit) { l.Count = 8 })},
		{`{"name":"slots","count":8,"ttl":"5s"}`, slots, of(slots, func(l *limiter.Limit) { l.Count, l.Period = 8, 5*time.Second })},
		{`{"name":"slots","count":8,"algorithm":"concurrency"}`, slots, of(slots, func(l *limiter.Limit) { l.Count = 8 })},
		{`{"name":"trial","count":80,"period":"week"}`, first, of(first, func(l *limiter.Limit) { l.Count = 80 })},
		{`{"name":"trial","rate":"200/month"}`, first, of(first, func(l *limiter.Limit) { l.Count, l.Period = 200, 30*day })},
	} {
		s := spec(t, c.text)
		got, err := s.LimitLike(&c.own)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, want %+v (%v)", c.text, got, c.want, err)
		}
		if s.Algorithm != "" && !strings.Contains(c.text, s.Algorithm) {
			t.Errorf("%s was changed", c.text)
		}
	}
	bad := spec(t, `{"name":"month","rate":"5000","burst":3}`)
	if _, err := bad.LimitLike(&monthly); strings.Join(faultLines(t, err), "; ") != `rate: must be COUNT/PERIOD such as 100/1m, 20/s or 5000/day, got "5000"; burst: only token_bucket and leaky_bucket have a burst` {
		t.Errorf("%v", err)
	}
}
