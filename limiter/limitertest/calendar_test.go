package limitertest_test

import (
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/limiter/limitertest"
)

// The calendar of the limiter agrees with a walk along the zone's clock, at
// and around changes of it, and on the days of a leap year that catch out
// simple arithmetic.
func TestCalendarAgainstWalk(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"UTC", "Europe/Berlin", "America/Sao_Paulo", "America/St_Johns", "Australia/Lord_Howe",
		"Pacific/Apia", "Africa/Monrovia", "Asia/Gaza", "Pacific/Kwajalein", "Africa/Casablanca",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range moments(zone) {
				for c := limiter.Minute; c <= limiter.Year; c++ {
					l := &limiter.Limit{
						Algorithm: limiter.FixedWindow, Period: time.Hour,
						Align: limiter.AlignCalendar, Calendar: c, Zone: zone, Anchor: 30,
					}
					got := at + int64(l.WindowEnd(limiter.At(at)))
					if want := limitertest.CalendarEnd(l, at); got != want {
						t.Errorf("calendar %d at %v: got %v, want %v", c,
							time.Unix(0, at).In(zone), time.Unix(0, got).In(zone), time.Unix(0, want).In(zone))
					}
				}
			}
		})
	}
}

// moments are some times around every few changes of a zone's clock.
func moments(zone *time.Location) []int64 {
	at := []int64{
		time.Date(2024, 2, 29, 12, 0, 0, 0, zone).UnixNano(),
		time.Date(2024, 12, 31, 12, 0, 0, 0, zone).UnixNano(),
		time.Date(2025, 1, 1, 0, 0, 0, 0, zone).UnixNano(),
		time.Date(2028, 12, 31, 23, 59, 59, 999, zone).UnixNano(),
	}
	change := time.Date(1970, 1, 1, 0, 0, 0, 0, zone)
	for i := 0; change.Year() < 2031; i++ {
		_, next := change.ZoneBounds()
		if next.IsZero() {
			break
		}
		if !next.After(change) { // so it is on the last day of a leap year
			next = change.AddDate(0, 0, 1)
		}
		change = next
		if i%3 != 0 && change.Year() != 2011 {
			continue
		}
		for _, off := range []time.Duration{-time.Hour - 1, -1, 0, 31 * time.Minute, 20 * time.Hour} {
			at = append(at, change.Add(off).UnixNano())
		}
	}
	return at
}
