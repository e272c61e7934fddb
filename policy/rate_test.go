package policy

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

func TestParseRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want Rate
	}{
		{"100/1m", Rate{100, Period{Length: time.Minute}}},
		{"20/1s", Rate{20, Period{Length: time.Second}}},
		{"5/250ms", Rate{5, Period{Length: 250 * time.Millisecond}}},
		{"100/24h", Rate{100, Period{Length: day}}},
		{"1000/7d", Rate{1000, Period{Length: 7 * day}}},
		{"1/1d12h", Rate{1, Period{Length: 36 * time.Hour}}},
		{"1/1.5s", Rate{1, Period{Length: 1500 * time.Millisecond}}},
		{"0/1s", Rate{0, Period{Length: time.Second}}},
		{"9223372036854775k/s", Rate{9223372036854775000, Period{Length: time.Second}}},
		{"9223372036854776k/s", Rate{math.MaxInt64, Period{Length: time.Second}}}, // for the limit to refuse
		{"9223372036854775808/s", Rate{math.MaxInt64, Period{Length: time.Second}}},
		{"20/s", Rate{20, Period{Length: time.Second}}},
		{"20/second", Rate{20, Period{Length: time.Second}}},
		{"600/min", Rate{600, Period{time.Minute, limiter.Minute}}},
		{"600/minute", Rate{600, Period{time.Minute, limiter.Minute}}},
		{"1k/h", Rate{1000, Period{time.Hour, limiter.Hour}}},
		{"1k/hour", Rate{1000, Period{time.Hour, limiter.Hour}}},
		{"3M/d", Rate{3_000_000, Period{day, limiter.Day}}},
		{"3M/day", Rate{3_000_000, Period{day, limiter.Day}}},
		{"4G/week", Rate{4_000_000_000, Period{7 * day, limiter.Week}}},
		{"9/month", Rate{9, Period{30 * day, limiter.Month}}},
		{"9/year", Rate{9, Period{365 * day, limiter.Year}}},
	} {
		got, err := ParseRate(c.in)
		if err != nil || got != c.want {
			t.Errorf("ParseRate(%q) = %+v, %v; want %+v", c.in, got, err, c.want)
		}
	}
}

func TestParseRateRefuses(t *testing.T) {
	t.Parallel()
	const names = "s, second, min, minute, h, hour, d, day, week, month, year"
	for _, c := range []struct{ in, want string }{
		{"", `must be COUNT/PERIOD such as 100/1m, 20/s or 5000/day, got ""`},
		{"100", `must be COUNT/PERIOD such as 100/1m, 20/s or 5000/day, got "100"`},
		{"1/2/3", `must be COUNT/PERIOD such as 100/1m, 20/s or 5000/day, got "1/2/3"`},
		{"100 / 1m", `"100 / 1m" must not contain spaces`},
		{"100/m", `the period "m" could be a minute or a month: write min or month`},
		{"100/5", `the period needs a unit: write 5s, 5m or 5h`},
		{"100/0s", `the period must be more than 0, got "0s"`},
		{"100/-1s", `the period must not be negative, got "-1s"`},
		{"100/1d-1h", `the period must be a duration such as 250ms, 20s, 5m, 24h or 7d, or one of ` + names + `, got "1d-1h"`},
		{"100/1w", `the period must be a duration such as 250ms, 20s, 5m, 24h or 7d, or one of ` + names + `, got "1w"`},
		{"100/", `the period must be a duration such as 250ms, 20s, 5m, 24h or 7d, or one of ` + names + `, got ""`},
		{"100/mnth", `the period must be a duration such as 250ms, 20s, 5m, 24h or 7d, or one of ` + names + `, got "mnth" (did you mean "month"?)`},
		{"100/Day", `the period must be a duration such as 250ms, 20s, 5m, 24h or 7d, or one of ` + names + `, got "Day" (did you mean "day"?)`},
		{"100/99999999999999999999d", `the period must be at most 366 days, got "99999999999999999999d"`},
		{"100/367d", `the period must be at most 366 days, got "367d"`},
		{"100/9999999999999h", `the period must be at most 366 days, got "9999999999999h"`},
		{"-1/s", `the count must not be negative, got "-1"`},
		{"1.5/s", `the count must be a whole number such as 250, 10k, 5M or 1G, got "1.5"`},
		{"1K/s", `the count must be a whole number such as 250, 10k, 5M or 1G, got "1K"`},
		{"+1/s", `the count must be a whole number such as 250, 10k, 5M or 1G, got "+1"`},
		{"/s", `the count must be a whole number such as 250, 10k, 5M or 1G, got ""`},
		{"k/s", `the count must be a whole number such as 250, 10k, 5M or 1G, got "k"`},
		{"010/s", `the count must not begin with 0, got "010"`},
	} {
		_, err := ParseRate(c.in)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("ParseRate(%q):\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// Every duration of Go reads back, with and without days in front.
func TestParsePeriodReadsGoDurations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		days := rapid.IntRange(0, 365).Draw(t, "days")
		rest := time.Duration(rapid.Int64Range(1, int64(day)).Draw(t, "rest"))
		text := rest.String()
		if days > 0 {
			text = fmt.Sprintf("%dd%v", days, rest)
		}
		want := time.Duration(days)*day + rest
		got, err := ParsePeriod(text)
		if err != nil || got != (Period{Length: want}) {
			t.Fatalf("ParsePeriod(%q) = %v, %v; want %v", text, got, err, want)
		}
	})
}

func TestClip(t *testing.T) {
	t.Parallel()
	long := make([]byte, 79, 1<<20)
	for i := range long {
		long[i] = 'x'
	}
	long = append(long, "é and a megabyte"...)
	if got, want := clip(string(long)), string(long[:79])+"..."; got != want {
		t.Errorf("clip cut a rune in two: %q", got)
	}
	if got := clip("short"); got != "short" {
		t.Errorf("clip(short) = %q", got)
	}
}
