package limiter

import (
	"math/big"
	"os"
	"strings"
	"testing"
	"time"
)

func allZones(t *testing.T) []*time.Location {
	t.Helper()
	names, err := os.ReadFile("testdata/zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	var zones []*time.Location
	for name := range strings.FieldsSeq(string(names)) {
		zones = append(zones, zone(t, name))
	}
	return zones
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func calendarLimit(c Calendar, zone *time.Location, anchor int) *Limit {
	return &Limit{Algorithm: FixedWindow, Count: 1, Period: time.Hour, Align: AlignCalendar, Calendar: c, Zone: zone, Anchor: anchor}
}

// Windows tile the line in every zone, around every change of its clock.
func TestCalendarWindowsTile(t *testing.T) {
	t.Parallel()
	limits := []*Limit{
		calendarLimit(Minute, nil, 0), calendarLimit(Hour, nil, 0), calendarLimit(Day, nil, 0),
		calendarLimit(Week, nil, 0), calendarLimit(Month, nil, 31), calendarLimit(Year, nil, 0),
	}
	last := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, z := range allZones(t) {
		for at := time.Unix(0, 0).In(z); at.Before(last); {
			for i, l := range limits {
				l.Zone = z
				checkTile(t, l, at.UnixNano()-1)
				checkTile(t, l, at.UnixNano())
				if i >= 2 { // a day's window can lie far from the change
					checkTile(t, l, at.UnixNano()+int64(20*time.Hour))
				}
			}
			_, next := at.ZoneBounds()
			if next.IsZero() {
				break
			}
			if !next.After(at) { // so it is on the last day of a leap year
				next = at.AddDate(0, 0, 1)
			}
			at = next
		}
	}
}

// checkTile checks that the window of wall contains it, and that its
// neighbours meet it without a gap or an overlap.
func checkTile(t *testing.T, l *Limit, wall int64) {
	t.Helper()
	start, end := l.calendarWindow(wall)
	_, before := l.calendarWindow(start - 1)
	after, _ := l.calendarWindow(end)
	if start > wall || wall >= end || before != start || after != end {
		t.Errorf("%v, calendar %d, at %v: window [%v, %v), the one before ends %v, the next begins %v",
			l.Zone, l.Calendar, local(l, wall), local(l, start), local(l, end), local(l, before), local(l, after))
	}
}

func local(l *Limit, wall int64) string {
	zone := time.UTC
	if l.Zone != nil {
		zone = l.Zone
	}
	return time.Unix(0, wall).In(zone).Format("2006-01-02T15:04:05.999999999Z07:00")
}

func TestCalendarWindows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why        string
		calendar   Calendar
		zone       string
		anchor     int
		at         string
		start, end string
	}{
		{"plain day", Day, "UTC", 0, "2024-03-05T10:00:00Z", "2024-03-05T00:00:00Z", "2024-03-06T00:00:00Z"},
		{"week from Monday, on a Sunday", Week, "UTC", 0, "2024-03-10T23:59:59.999999999Z", "2024-03-04T00:00:00Z", "2024-03-11T00:00:00Z"},
		{"week from Monday, on a Monday", Week, "UTC", 0, "2024-03-11T00:00:00Z", "2024-03-11T00:00:00Z", "2024-03-18T00:00:00Z"},
		{"year", Year, "UTC", 0, "2024-12-31T23:59:59Z", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"},
		{"the last day of a leap year", Year, "Europe/Berlin", 0, "2024-12-31T18:00:00+01:00", "2024-01-01T00:00:00+01:00", "2025-01-01T00:00:00+01:00"},
		{"month", Month, "UTC", 0, "2024-02-29T12:00:00Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"},
		{"anchor 31 begins a short month on its last day", Month, "UTC", 31, "2023-02-28T00:00:00Z", "2023-02-28T00:00:00Z", "2023-03-31T00:00:00Z"},
		{"anchor 31, the day before", Month, "UTC", 31, "2023-02-27T23:00:00Z", "2023-01-31T00:00:00Z", "2023-02-28T00:00:00Z"},
		{"anchor 30 in a leap February", Month, "UTC", 30, "2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "2024-03-30T00:00:00Z"},
		{"anchor over the new year", Month, "UTC", 15, "2024-01-14T12:00:00Z", "2023-12-15T00:00:00Z", "2024-01-15T00:00:00Z"},
		{"a day of 23 hours", Day, "Europe/Berlin", 0, "2024-03-31T12:00:00+02:00", "2024-03-31T00:00:00+01:00", "2024-04-01T00:00:00+02:00"},
		{"a day of 25 hours", Day, "Europe/Berlin", 0, "2024-10-27T12:00:00+01:00", "2024-10-27T00:00:00+02:00", "2024-10-28T00:00:00+01:00"},
		{"no midnight: the day begins at 1", Day, "America/Sao_Paulo", 0, "2017-10-15T12:00:00-02:00", "2017-10-15T01:00:00-02:00", "2017-10-16T00:00:00-02:00"},
		{"no midnight: the day before ends then", Day, "America/Sao_Paulo", 0, "2017-10-14T23:59:59-03:00", "2017-10-14T00:00:00-03:00", "2017-10-15T01:00:00-02:00"},
		{"23 o'clock twice: one day still", Day, "America/Sao_Paulo", 0, "2018-02-17T23:30:00-03:00", "2018-02-17T00:00:00-02:00", "2018-02-18T00:00:00-03:00"},
		{"midnight twice: the first counts", Day, "America/St_Johns", 0, "2006-10-28T23:30:00-03:30", "2006-10-29T00:00:00-02:30", "2006-10-30T00:00:00-03:30"},
		{"midnight twice: before the first", Day, "America/St_Johns", 0, "2006-10-28T23:30:00-02:30", "2006-10-28T00:00:00-02:30", "2006-10-29T00:00:00-02:30"},
		{"a day left out", Day, "Pacific/Apia", 0, "2011-12-31T00:00:00+14:00", "2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00"},
		{"the day before one left out", Day, "Pacific/Apia", 0, "2011-12-29T23:59:59-10:00", "2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00"},
		{"anchor on the day left out", Month, "Pacific/Apia", 30, "2011-12-31T08:00:00+14:00", "2011-12-31T00:00:00+14:00", "2012-01-30T00:00:00+14:00"},
		{"an hour shown twice is two windows", Hour, "Europe/Berlin", 0, "2024-10-27T02:30:00+01:00", "2024-10-27T02:00:00+01:00", "2024-10-27T03:00:00+01:00"},
		{"half an hour forward cuts the next hour", Hour, "Australia/Lord_Howe", 0, "2024-10-06T02:45:00+11:00", "2024-10-06T02:30:00+11:00", "2024-10-06T03:00:00+11:00"},
		{"half an hour back: the cut hour", Hour, "Australia/Lord_Howe", 0, "2024-04-07T01:45:00+10:30", "2024-04-07T01:30:00+10:30", "2024-04-07T02:00:00+10:30"},
		{"an hour of an odd offset", Hour, "Asia/Kathmandu", 0, "2024-04-07T10:30:00+05:45", "2024-04-07T10:00:00+05:45", "2024-04-07T11:00:00+05:45"},
		{"a minute", Minute, "Asia/Kathmandu", 0, "2024-04-07T10:30:59.5+05:45", "2024-04-07T10:30:00+05:45", "2024-04-07T10:31:00+05:45"},
	}
	for _, test := range tests {
		l := calendarLimit(test.calendar, zone(t, test.zone), test.anchor)
		start, end := l.calendarWindow(unix(t, test.at))
		if start != unix(t, test.start) || end != unix(t, test.end) {
			t.Errorf("%s: got [%v, %v), want [%v, %v)", test.why, local(l, start), local(l, end), test.start, test.end)
		}
	}
}

func unix(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixNano()
}

// The ends of the clock's range, and offsets that no zone has, are answered.
func TestCalendarExtremes(t *testing.T) {
	t.Parallel()
	for _, z := range []*time.Location{nil, zone(t, "Europe/Berlin"), time.FixedZone("far", 1<<30), time.FixedZone("back", -1<<30)} {
		for c := Minute; c <= Year; c++ {
			for _, wall := range []int64{minClock, 0, maxClock} {
				if _, end := calendarLimit(c, z, 31).calendarWindow(wall); end <= wall {
					t.Errorf("%v, calendar %d: the window of %d ends at %d", z, c, wall, end)
				}
			}
		}
	}
}

func TestWide(t *testing.T) {
	t.Parallel()
	numbers := []uint64{0, 1, 2, 3, 999_999_937, 1 << 32, 1<<50 - 1, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	asBig := func(x wide) *big.Int {
		b := new(big.Int).SetUint64(x.hi)
		return b.Lsh(b, 64).Add(b, new(big.Int).SetUint64(x.lo))
	}
	for _, a := range numbers {
		for _, b := range numbers {
			for _, d := range numbers {
				x, y := product(a, b), product(b, d)
				checkWide(t, x, y, d, asBig)
			}
		}
	}
}

func checkWide(t *testing.T, x, y wide, d uint64, asBig func(wide) *big.Int) {
	t.Helper()
	bx, by, bd := asBig(x), asBig(y), new(big.Int).SetUint64(d)
	if x.exceeds(y) != (bx.Cmp(by) > 0) || x.zero() != (bx.Sign() == 0) {
		t.Errorf("%v against %v", bx, by)
	}
	if sum := new(big.Int).Add(bx, by); sum.BitLen() <= 128 && asBig(x.plus(y)).Cmp(sum) != 0 {
		t.Errorf("%v + %v = %v", bx, by, asBig(x.plus(y)))
	}
	difference := new(big.Int).Sub(bx, by)
	if difference.Sign() < 0 {
		difference.SetInt64(0)
	}
	if asBig(x.minus(y)).Cmp(difference) != 0 {
		t.Errorf("%v - %v = %v", bx, by, asBig(x.minus(y)))
	}
	want := big.NewInt(1<<63 - 1)
	switch {
	case bx.Sign() == 0:
		want.SetInt64(0)
	case d > 0:
		up := new(big.Int).Div(new(big.Int).Add(bx, new(big.Int).Sub(bd, big.NewInt(1))), bd)
		if up.Cmp(want) < 0 {
			want = up
		}
	}
	if got := int64(x.durationUp(d)); got != want.Int64() {
		t.Errorf("%v / %d rounded up = %d, want %v", bx, d, got, want)
	}
}
