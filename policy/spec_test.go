package policy

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// spec reads a LimitSpec as a check would bring it.
func spec(t *testing.T, text string) LimitSpec {
	t.Helper()
	var s LimitSpec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// faultLines are the lines of a joined error, each of which must be an InputError.
func faultLines(t *testing.T, err error) []string {
	t.Helper()
	var lines []string
	for _, e := range InputErrors(err) {
		if !errors.Is(err, ErrInput) {
			t.Errorf("%v is no ErrInput", err)
		}
		lines = append(lines, e.Error())
	}
	if err != nil && err.Error() != strings.Join(lines, "\n") {
		t.Errorf("InputErrors lost a part of: %v", err)
	}
	return lines
}

func TestLimitSpec(t *testing.T) {
	t.Parallel()
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   string
		want limiter.Limit
	}{
		{`{"algorithm":"token_bucket","rate":"20/s","burst":40,"name":"burst"}`,
			limiter.Limit{Name: "burst", Algorithm: limiter.TokenBucket, Count: 20, Period: time.Second, Burst: 40}},
		{`{"algorithm":"token_bucket","rate":"20/month"}`,
			limiter.Limit{Algorithm: limiter.TokenBucket, Count: 20, Period: 30 * day}},
		{`{"algorithm":"leaky_bucket","rate":"2/s","burst":0}`,
			limiter.Limit{Algorithm: limiter.LeakyBucket, Count: 2, Period: time.Second}},
		{`{"algorithm":"sliding_window","rate":"5/year"}`,
			limiter.Limit{Algorithm: limiter.SlidingWindow, Count: 5, Period: 365 * day}},
		{`{"algorithm":"sliding_window","count":5,"period":"1d"}`,
			limiter.Limit{Algorithm: limiter.SlidingWindow, Count: 5, Period: day}},
		{`{"algorithm":"sliding_log","rate":"7/24h"}`,
			limiter.Limit{Algorithm: limiter.SlidingLog, Count: 7, Period: day}},
		{`{"algorithm":"concurrency","count":100}`,
			limiter.Limit{Algorithm: limiter.Concurrency, Count: 100, Period: limiter.DefaultTTL}},
		{`{"algorithm":"concurrency","count":1000,"ttl":"2m"}`,
			limiter.Limit{Algorithm: limiter.Concurrency, Count: 1000, Period: 2 * time.Minute}},
		// Windows: durations and names up to the hour follow the epoch, longer names the calendar.
		{`{"algorithm":"fixed_window","rate":"5/24h"}`,
			limiter.Limit{Algorithm: limiter.FixedWindow, Count: 5, Period: day}},
		{`{"algorithm":"fixed_window","rate":"5/h"}`,
			limiter.Limit{Algorithm: limiter.FixedWindow, Count: 5, Period: time.Hour}},
		{`{"algorithm":"fixed_window","rate":"5/day"}`,
			limiter.Limit{Algorithm: limiter.FixedWindow, Count: 5, Period: day, Align: limiter.AlignCalendar, Calendar: limiter.Day}},
		{`{"algorithm":"fixed_window","count":5,"period":"week"}`,
			limiter.Limit{Algorithm: limiter.FixedWindow, Count: 5, Period: 7 * day, Align: limiter.AlignCalendar, Calendar: limiter.Week}},
		{`{"algorithm":"fixed_window","rate":"5/day","align":"epoch"}`,
			limiter.Limit{Algorithm: limiter.FixedWindow, Count: 5, Period: day}},
		{`{"algorithm":"fixed_window","rate":"5/month","align":"first"}`,
			limiter.Limit{Algorithm: limiter.FixedWindow, Count: 5, Period: 30 * day, Align: limiter.AlignFirst}},
		{`{"algorithm":"fixed_window","rate":"5/h","align":"calendar","timezone":"Asia/Kolkata"}`,
			limiter.Limit{Algorithm: limiter.FixedWindow, Count: 5, Period: time.Hour, Align: limiter.AlignCalendar, Calendar: limiter.Hour, Zone: kolkata}},
		{`{"algorithm":"fixed_window","rate":"5/60s","align":"calendar"}`,
			limiter.Limit{Algorithm: limiter.FixedWindow, Count: 5, Period: time.Minute, Align: limiter.AlignCalendar, Calendar: limiter.Minute}},
		{`{"algorithm":"fixed_window","rate":"5/7d","align":"calendar"}`,
			limiter.Limit{Algorithm: limiter.FixedWindow, Count: 5, Period: 7 * day, Align: limiter.AlignCalendar, Calendar: limiter.Week}},
		{`{"algorithm":"fixed_window","rate":"5/month","anchor":31,"timezone":"Asia/Kolkata"}`,
			limiter.Limit{Algorithm: limiter.FixedWindow, Count: 5, Period: 30 * day, Align: limiter.AlignCalendar, Calendar: limiter.Month, Zone: kolkata, Anchor: 31}},
		{`{"algorithm":"quota","rate":"100k/month","unit":"tokens","durable":true}`,
			limiter.Limit{Algorithm: limiter.Quota, Count: 100_000, Period: 30 * day, Align: limiter.AlignCalendar, Calendar: limiter.Month,
				Unit: limiter.Tokens, Durable: true}},
		{`{"algorithm":"quota","rate":"5/7d","durable":false}`,
			limiter.Limit{Algorithm: limiter.Quota, Count: 5, Period: 7 * day}},
		{`{"algorithm":"token_bucket","rate":"10M/s","unit":"bytes"}`,
			limiter.Limit{Algorithm: limiter.TokenBucket, Count: 10_000_000, Period: time.Second, Unit: limiter.Bytes}},
	} {
		s := spec(t, c.in)
		got, err := s.Limit()
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got.Zone.String() != c.want.Zone.String() {
			t.Errorf("%s: zone %v, want %v", c.in, got.Zone, c.want.Zone)
		}
		got.Zone, c.want.Zone = nil, nil
		if got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.in, got, c.want)
		}
	}
}

func TestLimitSpecRefuses(t *testing.T) {
	t.Parallel()
	const (
		algorithms = "token_bucket, leaky_bucket, fixed_window, sliding_window, sliding_log, concurrency, quota"
		noRate     = "rate: is required: COUNT/PERIOD such as 100/1m, 20/s or 5000/day"
		noCalendar = "align: a calendar window needs a calendar period (minute, hour, day, week, month, year), and only a calendar window has one"
		noZone     = "timezone: only a calendar window has a time zone"
		noAnchor   = "anchor: must be a day from 1 to 31, and only calendar months have one"
		noBurst    = "burst: only token_bucket and leaky_bucket have a burst"
	)
	for _, c := range []struct {
		in   string
		want []string
	}{
		{`{}`, []string{"algorithm: is required: one of " + algorithms, noRate}},
		{`{"algorithm":"token_buckte","rate":"5/s"}`,
			[]string{"algorithm: must be one of " + algorithms + `, got "token_buckte" (did you mean "token_bucket"?)`}},
		{`{"algorithm":"sliding_window","rate":"5/m"}`,
			[]string{`rate: the period "m" could be a minute or a month: write min or month`}},
		{`{"algorithm":"sliding_window","rate":"5/s","count":5,"period":"1s"}`,
			[]string{"rate: give either rate, or count and period, not both"}},
		{`{"algorithm":"sliding_window","count":5}`,
			[]string{"period: is required beside count: a duration such as 1m or 24h, or a name such as day"}},
		{`{"algorithm":"sliding_window","period":"1m"}`, []string{"count: is required beside period"}},
		{`{"algorithm":"sliding_window","count":5,"period":"5"}`, []string{"period: needs a unit: write 5s, 5m or 5h"}},
		{`{"algorithm":"sliding_window","count":-1,"period":"5s"}`, []string{"count: must be 0 to 1000000000000000"}},
		{`{"algorithm":"sliding_window","rate":"99999999999999999999/s"}`, []string{"rate: the count must be 0 to 1000000000000000"}},
		{`{"algorithm":"sliding_log","rate":"20k/h"}`,
			[]string{"rate: the count must be at most 10000 in a sliding_log, which keeps every call; sliding_window has no such bound"}},
		{`{"algorithm":"sliding_log","rate":"20/h","ttl":"1m"}`,
			[]string{"ttl: only concurrency has a ttl: how long a holder may go without renewing"}},
		{`{"algorithm":"concurrency"}`, []string{"count: is required: how many may be at it at once"}},
		{`{"algorithm":"concurrency","rate":"20/s"}`,
			[]string{"rate: a concurrency limit has none: write count, and ttl for how long a holder may go without renewing"}},
		{`{"algorithm":"concurrency","count":20000}`,
			[]string{"count: must be at most 10000 in a concurrency limit, which remembers every holder"}},
		{`{"algorithm":"concurrency","count":5,"period":"1m","burst":9,"align":"first"}`,
			[]string{"period: a concurrency limit has no period: write ttl for how long a holder may go without renewing",
				"align: only fixed_window and quota have windows to align", noBurst}},
		{`{"algorithm":"concurrency","count":5,"unit":"tokens","durable":true}`,
			[]string{"unit: a concurrency limit counts requests, and nothing else", "durable: only fixed_window and quota can be durable"}},
		{`{"algorithm":"concurrency","count":5,"timezone":"UTC","anchor":3}`, []string{noZone, noAnchor}},
		{`{"algorithm":"concurrency","count":5,"ttl":"30"}`, []string{"ttl: needs a unit: write 30s, 30m or 30h"}},
		{`{"algorithm":"concurrency","count":5,"ttl":"2d"}`, []string{"ttl: must be 1ms to 24 hours"}},
		{`{"algorithm":"sliding_window","rate":"5/366d1s"}`, []string{"rate: the period must be 1ms to 366 days"}},
		{`{"algorithm":"sliding_window","count":5,"period":"1us"}`, []string{"period: must be 1ms to 366 days"}},
		{`{"algorithm":"token_bucket","rate":"5/s","burst":0}`,
			[]string{"burst: must not be 0, a bucket that holds nothing: leave it out and it is the count"}},
		{`{"algorithm":"sliding_window","rate":"5/s","burst":0}`, []string{noBurst + ": leave it out"}},
		{`{"algorithm":"sliding_window","rate":"5/s","burst":9}`, []string{noBurst}},
		{`{"algorithm":"token_bucket","rate":"5/s","burst":-9}`, []string{"burst: must be 0 to 1000000000000000"}},
		{`{"algorithm":"quota","rate":"5/s","unit":"token"}`,
			[]string{`unit: must be one of requests, bytes, tokens, got "token" (did you mean "tokens"?)`}},
		{`{"algorithm":"sliding_window","rate":"5/s","durable":true}`, []string{"durable: only fixed_window and quota can be durable"}},
		{`{"algorithm":"token_bucket","rate":"5/s","align":"epoch"}`, []string{"align: only fixed_window and quota have windows to align"}},
		{`{"algorithm":"fixed_window","rate":"5/day","align":"callendar"}`,
			[]string{`align: must be epoch, calendar or first, got "callendar" (did you mean "calendar"?)`}},
		{`{"algorithm":"fixed_window","rate":"5/2h","align":"calendar"}`, []string{noCalendar}},
		{`{"algorithm":"fixed_window","rate":"5/30d","align":"calendar"}`, []string{noCalendar}},
		{`{"algorithm":"fixed_window","rate":"5/s","align":"calendar"}`, []string{noCalendar}},
		{`{"algorithm":"fixed_window","rate":"5/24h","timezone":"UTC"}`, []string{noZone}},
		{`{"algorithm":"fixed_window","rate":"5/day","align":"first","timezone":"UTC"}`, []string{noZone}},
		{`{"algorithm":"fixed_window","rate":"5/day","timezone":"America/Sao_Paolo"}`,
			[]string{`timezone: there is no time zone "America/Sao_Paolo"; write a name of the IANA database such as America/Sao_Paulo (did you mean "America/Sao_Paulo"?)`}},
		{`{"algorithm":"fixed_window","rate":"5/day","timezone":"Local"}`,
			[]string{`timezone: there is no time zone "Local"; write a name of the IANA database such as America/Sao_Paulo`}},
		{`{"algorithm":"fixed_window","rate":"5/day","timezone":"../../etc/passwd"}`,
			[]string{`timezone: there is no time zone "../../etc/passwd"; write a name of the IANA database such as America/Sao_Paulo`}},
		{`{"algorithm":"fixed_window","rate":"5/day","anchor":3}`, []string{noAnchor}},
		{`{"algorithm":"fixed_window","rate":"5/month","anchor":32}`, []string{noAnchor}},
		{`{"algorithm":"fixed_window","rate":"5/month","anchor":0}`, []string{noAnchor}},
		{`{"algorithm":"fixed_window","rate":"5/month","anchor":-9223372036854775808}`, []string{noAnchor}},
		{`{"algorithm":"sliding_window","rate":"5/s","anchor":0}`, []string{noAnchor}},
		{`{"algorithm":"token_bucket","rate":"5/month","anchor":3}`, []string{noAnchor}},
		{`{"algorithm":"tokens","rate":"5/month","burst":-4,"align":"epoch","timezone":"Mars/Base","anchor":99}`, []string{
			"algorithm: must be one of " + algorithms + `, got "tokens"`,
			`timezone: there is no time zone "Mars/Base"; write a name of the IANA database such as America/Sao_Paulo`}},
		{`{"algorithm":"sliding_window","rate":"1.5/s","burst":9,"align":"first","timezone":"UTC","anchor":1}`, []string{
			`rate: the count must be a whole number such as 250, 10k, 5M or 1G, got "1.5"`,
			noBurst}},
		{`{"algorithm":"sliding_window","rate":"5/367h","burst":9,"align":"first","timezone":"UTC","anchor":1}`, []string{
			"align: only fixed_window and quota have windows to align", noBurst}},
	} {
		s := spec(t, c.in)
		_, err := s.Limit()
		if got, want := strings.Join(faultLines(t, err), "\n"), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, want)
		}
	}
}

// A zone that is suggested must exist.
func TestZoneNames(t *testing.T) {
	t.Parallel()
	names := strings.Fields(zoneNames)
	if len(names) < 300 {
		t.Fatalf("only %d names", len(names))
	}
	for _, name := range names {
		if _, err := time.LoadLocation(name); err != nil {
			t.Error(err)
		}
	}
}
