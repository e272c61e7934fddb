package policy

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

func TestWarnings(t *testing.T) {
	t.Parallel()
	const alone = "key: tells clients apart by their address alone, so all behind one address share the limit: " +
		"offices, schools and mobile networks do; put first what tells them apart, such as header:X-Api-Key | ip"
	never := func(field, stricter string) string {
		return field + `: can never deny, because limit "` + stricter + `" always does first: lower its count, or remove it`
	}
	limit := func(name string, a limiter.Algorithm, count int64, period time.Duration) limiter.Limit {
		return limiter.Limit{Name: name, Algorithm: a, Count: count, Period: period}
	}
	for _, c := range []struct {
		why    string
		policy Policy
		want   []string
	}{
		{"nothing to say", Policy{Key: []string{"header:X-Api-Key | ip"}, Limits: []limiter.Limit{perMinute("", 5)}}, nil},
		{"the address", Policy{Key: []string{"ip"}, Limits: []limiter.Limit{perMinute("", 5)}}, []string{alone}},
		{"the address and the route", Policy{Key: []string{"ip", "path"}, Limits: []limiter.Limit{perMinute("", 5)}}, []string{alone}},
		{"the address and the tenant", Policy{Key: []string{"ip", "path:tenant"}, Limits: []limiter.Limit{perMinute("", 5)}}, nil},
		{"no address", Policy{Key: []string{"path"}, Limits: []limiter.Limit{perMinute("", 5)}}, nil},
		{"minute and hour", Policy{Limits: []limiter.Limit{
			limit("minute", limiter.FixedWindow, 10, time.Minute), limit("hour", limiter.FixedWindow, 600, time.Hour)}},
			[]string{never("limits[1]", "minute")}},
		{"slots and rates, of which neither is stricter", Policy{Limits: []limiter.Limit{
			limit("slots", limiter.Concurrency, 10, time.Minute), limit("minute", limiter.SlidingLog, 10, time.Minute),
			limit("hour", limiter.Concurrency, 9, time.Hour)}}, []string{never("limits[0]", "hour")}},
		{"minute and a useful hour", Policy{Limits: []limiter.Limit{
			limit("minute", limiter.FixedWindow, 10, time.Minute), limit("hour", limiter.FixedWindow, 599, time.Hour)}}, nil},
		{"bucket and day, the stricter one later", Policy{Limits: []limiter.Limit{
			{Name: "day", Algorithm: limiter.FixedWindow, Count: 1_000_000, Period: day, Align: limiter.AlignCalendar, Calendar: limiter.Day},
			limit("burst", limiter.TokenBucket, 10, time.Second)}}, []string{never("limits[0]", "burst")}},
		{"a calendar's longest window", Policy{Limits: []limiter.Limit{
			limit("day", limiter.SlidingLog, 100, day),
			{Name: "month", Algorithm: limiter.FixedWindow, Count: 3209, Period: 30 * day, Align: limiter.AlignCalendar, Calendar: limiter.Month}}},
			[]string{never("limits[1]", "day")}},
		{"31 days and more than that", Policy{Limits: []limiter.Limit{
			limit("day", limiter.SlidingLog, 100, day),
			{Name: "month", Algorithm: limiter.FixedWindow, Count: 3100, Period: 30 * day, Align: limiter.AlignCalendar, Calendar: limiter.Month}}}, nil},
		{"a calendar's shortest window", Policy{Limits: []limiter.Limit{
			{Name: "hour", Algorithm: limiter.FixedWindow, Count: 10, Period: time.Hour, Align: limiter.AlignCalendar, Calendar: limiter.Hour},
			{Name: "year", Algorithm: limiter.FixedWindow, Count: 200_000, Period: 365 * day, Align: limiter.AlignCalendar, Calendar: limiter.Year}}},
			[]string{never("limits[1]", "hour")}},
		{"and fewer than its hours could be", Policy{Limits: []limiter.Limit{
			{Name: "hour", Algorithm: limiter.FixedWindow, Count: 10, Period: time.Hour, Align: limiter.AlignCalendar, Calendar: limiter.Hour},
			{Name: "year", Algorithm: limiter.FixedWindow, Count: 100_000, Period: 365 * day, Align: limiter.AlignCalendar, Calendar: limiter.Year}}}, nil},
		{"everybody's cool-down", Policy{Key: []string{"global"}, Cooldown: Cooldown{For: time.Minute}, Limits: []limiter.Limit{perMinute("", 5)}}, []string{
			"cooldown: keeps everybody out after one denial, because all share the key global: leave it out, or give the policy a key that tells clients apart"}},
		{"somebody's cool-down", Policy{Key: []string{"cookie:a | global"}, Cooldown: Cooldown{For: time.Minute}, Limits: []limiter.Limit{perMinute("", 5)}}, nil},
		{"everybody's limit", Policy{Key: []string{"global"}, Limits: []limiter.Limit{perMinute("", 5)}}, nil},
		{"twice the same", Policy{Limits: []limiter.Limit{perMinute("a", 5), perMinute("b", 5)}}, []string{never("limits[1]", "a")}},
		{"closed for now", Policy{Limits: []limiter.Limit{perMinute("a", 0), perMinute("b", 5)}}, nil},
		{"a queue says when", Policy{Limits: []limiter.Limit{
			limit("a", limiter.LeakyBucket, 1, time.Second), limit("b", limiter.LeakyBucket, 2, time.Second)}}, nil},
		{"in a tier", Policy{Limits: []limiter.Limit{perMinute("minute", 10), limit("hour", limiter.FixedWindow, 100, time.Hour)},
			Tiers: Tiers{Sets: []TierSet{{Name: "pro", Limits: []limiter.Limit{limit("hour", limiter.FixedWindow, 1000, time.Hour)}}}}},
			[]string{never("tiers.sets[0].limits[0]", "minute")}},
		{"an address twice", Policy{Key: []string{"header:X-A | ip", "attr:user", "header:x-a|ip"}, Limits: []limiter.Limit{perMinute("", 5)}},
			[]string{"key[2]: is a part of the key already and changes nothing: leave it out"}},
		{"two values of one attribute", Policy{Match: Match{Attribute: []Field{{"a", "1"}, {"b", "2"}, {"a", ""}, {"a", "3"}}}, Limits: []limiter.Limit{perMinute("", 5)}},
			[]string{"match.attribute[3]: never holds, because the same attribute must have another value too: no request has both, so make a policy for each"}},
		{"two values of one parameter, which a request can have", Policy{Match: Match{Query: []Field{{"a", "1"}, {"a", "3"}}}, Limits: []limiter.Limit{perMinute("", 5)}}, nil},
	} {
		c.policy.Name = "p"
		var got []string
		for _, w := range c.policy.Warnings(AddressBits{IPv4: 32, IPv6: 64}) {
			got = append(got, w.Field+": "+w.Detail)
		}
		if got, want := strings.Join(got, "\n"), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, want)
		}
	}
}

// Where one limit is said to never deny beside another, no calls at any times
// make it deny.
func TestWhatNeverDeniesNeverDenies(t *testing.T) {
	t.Parallel()
	limit := rapid.Custom(func(t *rapid.T) limiter.Limit {
		l := limiter.Limit{
			Algorithm: rapid.SampledFrom([]limiter.Algorithm{
				limiter.TokenBucket, limiter.LeakyBucket, limiter.FixedWindow, limiter.SlidingWindow, limiter.SlidingLog}).Draw(t, "algorithm"),
			Count:  rapid.Int64Range(1, 12).Draw(t, "count"),
			Period: rapid.SampledFrom([]time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 6 * time.Second}).Draw(t, "period"),
		}
		if l.Algorithm == limiter.TokenBucket || l.Algorithm == limiter.LeakyBucket {
			l.Burst = rapid.Int64Range(0, 6).Draw(t, "burst")
		}
		if l.Algorithm.Windowed() && rapid.Bool().Draw(t, "first") {
			l.Align = limiter.AlignFirst
		}
		return l
	})
	claims := 0
	rapid.Check(t, func(t *rapid.T) {
		loose, strict := limit.Draw(t, "loose"), limit.Draw(t, "strict")
		loose.Count *= 4
		loose.Name, strict.Name = "loose", "strict"
		if !neverDenies(&loose, &strict) {
			return
		}
		claims++
		table := limiter.NewTable(limiter.TableOptions{})
		call := &limiter.Call{Charges: []limiter.Charge{
			{Limit: &loose, Tag: loose.Tag(), Cost: 1}, {Limit: &strict, Tag: strict.Tag(), Cost: 1},
		}}
		results := make([]limiter.Result, 2)
		now := int64(1_000_000) * int64(time.Second)
		for i, step := range rapid.SliceOfN(rapid.Int64Range(0, 1500), 1, 200).Draw(t, "steps") {
			now += step * step / 1500 * int64(time.Millisecond)
			if err := table.Do(limiter.At(now), call, results); err != nil {
				t.Fatal(err)
			}
			if results[1].Allowed && !results[0].Allowed {
				t.Fatalf("call %d: %+v denied beside %+v", i, loose, strict)
			}
		}
	})
	if claims == 0 {
		t.Error("no two limits of which one never denies")
	}
}
