package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Rate is a count of units per period.
type Rate struct {
	// Count is not negative. It may be more than a limit can have.
	Count int64
	Period
}

// Period is the length of time that a limit counts over.
type Period struct {
	// Length is more than 0. Of a month it is 30 days, of a year 365.
	Length time.Duration
	// Calendar is the unit of the calendar that the period was named after.
	// 0: it was written as a duration, or is a second.
	Calendar limiter.Calendar
}

const day = 24 * time.Hour

// periodNames holds the names of periods, in the order in which messages
// list them.
var periodNames = []struct {
	name   string
	period Period
}{
	{"s", Period{Length: time.Second}},
	{"second", Period{Length: time.Second}},
	{"min", Period{time.Minute, limiter.Minute}},
	{"minute", Period{time.Minute, limiter.Minute}},
	{"h", Period{time.Hour, limiter.Hour}},
	{"hour", Period{time.Hour, limiter.Hour}},
	{"d", Period{day, limiter.Day}},
	{"day", Period{day, limiter.Day}},
	{"week", Period{7 * day, limiter.Week}},
	{"month", Period{30 * day, limiter.Month}},
	{"year", Period{365 * day, limiter.Year}},
}

// ParseRate reads COUNT/PERIOD, such as "100/1m", "10k/day" or "5/250ms".
// See [ParseSize] and [ParsePeriod] for the two halves. The error says what
// would be right, without naming a field.
func ParseRate(s string) (Rate, error) {
	count, period, ok := strings.Cut(s, "/")
	switch {
	case strings.ContainsAny(s, " \t\r\n"):
		return Rate{}, fmt.Errorf("%q must not contain spaces", clip(s))
	case !ok || strings.Contains(period, "/"):
		return Rate{}, fmt.Errorf("must be COUNT/PERIOD such as 100/1m, 20/s or 5000/day, got %q", clip(s))
	}
	n, err := ParseSize(count)
	if err != nil {
		return Rate{}, fmt.Errorf("the count %w", err)
	}
	p, err := ParsePeriod(period)
	if err != nil {
		return Rate{}, fmt.Errorf("the period %w", err)
	}
	return Rate{Count: n, Period: p}, nil
}

var (
	bareNumber    = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	durationShape = regexp.MustCompile(`^(?:([0-9]+)d)?((?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))*)$`)
)

// ParsePeriod reads a duration as Go writes it, with d for days of 24 hours
// before it ("250ms", "1h30m", "7d"), or a name: s, second, min, minute, h,
// hour, d, day, week, month, year. The error says what would be right,
// without naming a field.
func ParsePeriod(s string) (Period, error) {
	for _, n := range periodNames {
		if n.name == s {
			return n.period, nil
		}
	}
	switch {
	case s == "m":
		return Period{}, errors.New(`"m" could be a minute or a month: write min or month`)
	case bareNumber.MatchString(s):
		return Period{}, fmt.Errorf("needs a unit: write %[1]ss, %[1]sm or %[1]sh", clip(s))
	case strings.HasPrefix(s, "-"):
		return Period{}, fmt.Errorf("must not be negative, got %q", clip(s))
	}
	length, err := parseDuration(s)
	if err != nil {
		return Period{}, err
	}
	if length == 0 {
		return Period{}, fmt.Errorf("must be more than 0, got %q", clip(s))
	}
	return Period{Length: length}, nil
}

func parseDuration(s string) (time.Duration, error) {
	parts := durationShape.FindStringSubmatch(s)
	if s == "" || parts == nil {
		return 0, fmt.Errorf("must be a duration such as 250ms, 20s, 5m, 24h or 7d, or one of %s, got %q%s",
			strings.Join(allPeriodNames(), ", "), clip(s), didYouMean(s, allPeriodNames()))
	}
	var days, rest time.Duration
	if parts[1] != "" {
		n, err := strconv.Atoi(parts[1])
		if err != nil || n > int(limiter.MaxPeriod/day) {
			return 0, errTooLong(s)
		}
		days = time.Duration(n) * day
	}
	if parts[2] != "" {
		var err error
		if rest, err = time.ParseDuration(parts[2]); err != nil || rest > limiter.MaxPeriod {
			return 0, errTooLong(s)
		}
	}
	return days + rest, nil
}

func errTooLong(s string) error {
	return fmt.Errorf("must be at most %d days, got %q", limiter.MaxPeriod/day, clip(s))
}

func allPeriodNames() []string {
	names := make([]string, len(periodNames))
	for i, n := range periodNames {
		names[i] = n.name
	}
	return names
}

// didYouMean ends a message with the candidate that name was likely meant to
// be, or is empty.
func didYouMean(name string, candidates []string) string {
	if near := Nearest(name, candidates); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}
