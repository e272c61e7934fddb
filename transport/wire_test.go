package transport

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Skipf("no time zone database: %v", err)
	}
	return zone
}

func sampleLimits(t testing.TB) []limiter.Limit {
	return []limiter.Limit{
		{Algorithm: limiter.TokenBucket, Count: 100, Period: time.Minute, Burst: 20},
		{Algorithm: limiter.LeakyBucket, Count: 1, Period: limiter.MinPeriod, Burst: limiter.MaxCount},
		{Algorithm: limiter.FixedWindow, Count: limiter.MaxCount, Period: limiter.MaxPeriod},
		{Algorithm: limiter.FixedWindow, Count: 5, Period: time.Hour, Align: limiter.AlignFirst},
		{Algorithm: limiter.FixedWindow, Count: 5, Period: time.Hour, Align: limiter.AlignCalendar, Calendar: limiter.Hour},
		{Algorithm: limiter.FixedWindow, Count: 5, Period: 30 * 24 * time.Hour, Align: limiter.AlignCalendar,
			Calendar: limiter.Month, Anchor: 31, Zone: mustZone(t, "America/Sao_Paulo")},
		{Algorithm: limiter.SlidingWindow, Count: 0, Period: time.Second},
		{Algorithm: limiter.SlidingLog, Count: limiter.MaxLogCount, Period: time.Second},
		{Algorithm: limiter.Concurrency, Count: limiter.MaxHolders, Period: limiter.MaxTTL},
		{Algorithm: limiter.Quota, Count: 5, Period: 365 * 24 * time.Hour, Align: limiter.AlignCalendar, Calendar: limiter.Year, Durable: true},
	}
}

func callOf(limits []limiter.Limit) *limiter.Call {
	c := &limiter.Call{Op: limiter.Peek, Subject: limiter.Subject{Hi: math.MaxUint64, Lo: 2}}
	for i := range limits {
		c.Charges = append(c.Charges, limiter.Charge{Limit: &limits[i], Tag: uint64(i) << 60, Cost: int64(i) << 50})
	}
	return c
}

func TestCallsSurviveTheWire(t *testing.T) {
	t.Parallel()
	want := callOf(sampleLimits(t))
	body, err := appendCall(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	var space callSpace
	var z zones
	for range 2 { // the second time over the remains of the first
		if !space.decode(body, &z) {
			t.Fatal("not decoded")
		}
		if !sameCall(&space.call, want) {
			t.Errorf("got %+v, want %+v", space.call, *want)
		}
	}
}

// sampleHolds are the three calls about holds.
func sampleHolds() []*limiter.Call {
	var calls []*limiter.Call
	for i, op := range []limiter.Op{limiter.Hold, limiter.Confirm, limiter.Cancel} {
		c := call(1, 3)
		c.Charges[0].Limit.Name = "" // which does not travel
		c.Op, c.Hold = op, limiter.HoldID{Hi: math.MaxUint64, Lo: uint64(i)}
		calls = append(calls, c)
	}
	calls[0].Lapse = 50*time.Millisecond + 1
	return calls
}

// sampleLeases are the four calls about leases.
func sampleLeases() []*limiter.Call {
	var calls []*limiter.Call
	for i, op := range []limiter.Op{limiter.Acquire, limiter.Renew, limiter.Release, limiter.Occupy} {
		c := call(1, 1)
		c.Charges[0].Limit = &limiter.Limit{Algorithm: limiter.Concurrency, Count: 100, Period: time.Minute}
		c.Op, c.Lease, c.TTL = op, limiter.LeaseID{Hi: math.MaxUint64, Lo: uint64(i)}, time.Minute-1
		calls = append(calls, c)
	}
	calls[2].TTL = 0
	calls[3].Hold = limiter.HoldID{Hi: 1, Lo: 2}
	return calls
}

// sampleReceipts are calls under a receipt.
func sampleReceipts() []*limiter.Call {
	var calls []*limiter.Call
	for i, op := range []limiter.Op{limiter.Take, limiter.Confirm, limiter.Settle, limiter.Occupy} {
		c := call(1, 3)
		c.Charges[0].Limit.Name = ""
		c.Op, c.Receipt = op, limiter.ReceiptID{Hi: math.MaxUint64, Lo: uint64(i)}
		calls = append(calls, c)
	}
	calls[1].Hold = limiter.HoldID{Hi: 1, Lo: 2}
	calls[2].Charged = math.MaxInt64
	calls[3].Hold, calls[3].Lease, calls[3].TTL = limiter.HoldID{Hi: 1, Lo: 2}, limiter.LeaseID{Hi: 3}, time.Second
	return calls
}

func TestHoldsLeasesAndReceiptsSurviveTheWire(t *testing.T) {
	t.Parallel()
	var space callSpace
	var z zones
	take := sampleHolds()[0]
	take.Op, take.Hold, take.Lapse = limiter.Take, limiter.HoldID{}, 0
	all := slices.Concat(sampleHolds(), sampleLeases(), sampleReceipts())
	for _, want := range append(all, take) { // the last over the remains of another
		body, err := appendCall(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		if !space.decode(body, &z) || !sameCall(&space.call, want) {
			t.Errorf("got %+v, want %+v", space.call, *want)
		}
	}
}

// A lapse longer than any is cut to the longest.
func TestLapseIsBounded(t *testing.T) {
	t.Parallel()
	c := sampleHolds()[0]
	c.Lapse = -1 // as uvarint: the largest number
	body, err := appendCall(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	var space callSpace
	var z zones
	if !space.decode(body, &z) || space.call.Lapse != limiter.MaxLapse {
		t.Errorf("the lapse is %v", space.call.Lapse)
	}
}

// sameCall compares all but zones, of which it compares the names.
func sameCall(a, b *limiter.Call) bool {
	if a.Op != b.Op || a.Hold != b.Hold || a.Lapse != b.Lapse || a.Lease != b.Lease || a.TTL != b.TTL || a.Patient != b.Patient ||
		a.Receipt != b.Receipt || a.Charged != b.Charged || a.Subject != b.Subject || len(a.Charges) != len(b.Charges) {
		return false
	}
	for i := range a.Charges {
		x, y := a.Charges[i], b.Charges[i]
		lx, ly := *x.Limit, *y.Limit
		if (lx.Zone == nil) != (ly.Zone == nil) || lx.Zone != nil && lx.Zone.String() != ly.Zone.String() {
			return false
		}
		lx.Zone, ly.Zone = nil, nil
		if lx != ly || x.Tag != y.Tag || x.Cost != y.Cost || x.Cooldown != y.Cooldown || x.Extend != y.Extend {
			return false
		}
	}
	return true
}

func TestTheLargestEntriesFitAFrame(t *testing.T) {
	t.Parallel()
	wide := limiter.Limit{Algorithm: limiter.FixedWindow, Align: limiter.AlignCalendar, Calendar: limiter.Month, Anchor: 31,
		Count: -1, Period: -1, Burst: -1, Zone: time.FixedZone(strings.Repeat("z", maxZoneBytes), 0)}
	c := &limiter.Call{Op: limiter.Occupy, TTL: -1, Receipt: limiter.ReceiptID{Lo: 1}} // it says the most
	var results []limiter.Result
	for range limiter.MaxCharges {
		c.Charges = append(c.Charges, limiter.Charge{Limit: &wide, Tag: math.MaxUint64, Cost: -1, Cooldown: math.MaxInt64})
		results = append(results, limiter.Result{Limit: -1, Remaining: -1, RetryAfter: math.MinInt64,
			NextUnit: math.MinInt64, ResetAfter: math.MinInt64, Delay: math.MinInt64})
	}
	body, err := appendCall(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	body = appendCooldowns(body, c)
	if n := len(appendEntry(nil, math.MaxUint32, maxLeft, body)); n > maxEntryBytes {
		t.Errorf("a call takes %d bytes, more than %d", n, maxEntryBytes)
	}
	if n := len(appendReply(nil, math.MaxUint32, CodeOK, results)); n > maxEntryBytes {
		t.Errorf("a reply takes %d bytes, more than %d", n, maxEntryBytes)
	}
}

func TestCallsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	good := func() *limiter.Call { return call(1, 1) }
	change := func(f func(*limiter.Call)) []byte {
		c := good()
		f(c)
		b, err := appendCall(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	whole := change(func(*limiter.Call) {})
	calendar := func(zone string) []byte {
		b := change(func(c *limiter.Call) {
			*c.Charges[0].Limit = limiter.Limit{Algorithm: limiter.FixedWindow, Count: 1, Period: time.Minute,
				Align: limiter.AlignCalendar, Calendar: limiter.Minute}
		})
		return appendShort(b[:len(b)-1], zone)
	}
	var z zones
	var space callSpace
	if !space.decode(whole, &z) || !space.decode(calendar("UTC"), &z) {
		t.Fatal("what the rows below start from is not valid")
	}
	for name, body := range map[string][]byte{
		"unknown operation": change(func(c *limiter.Call) { c.Op = 200 }),
		"negative cost":     change(func(c *limiter.Call) { c.Charges[0].Cost = -1 }),
		"unknown algorithm": change(func(c *limiter.Call) { c.Charges[0].Limit.Algorithm = 99 }),
		"negative count":    change(func(c *limiter.Call) { c.Charges[0].Limit.Count = -1 }),
		"no period":         change(func(c *limiter.Call) { c.Charges[0].Limit.Period = 0 }),
		"huge burst":        change(func(c *limiter.Call) { c.Charges[0].Limit.Burst = math.MaxInt64 }),
		"unknown alignment": change(func(c *limiter.Call) { c.Charges[0].Limit.Align = 9 }),
		"unknown zone":      calendar("Atlantis/Poseidonis"),
		"local zone":        calendar("Local"),
		"path as zone":      calendar("../../etc/passwd"),
		"overlong zone":     calendar(strings.Repeat("a", 200)),
		"no charges":        append(bytes.Clone(whole[:17]), 0),
		"33 charges":        append(bytes.Clone(whole[:17]), 33),
		"cut short":         whole[:len(whole)-1],
		"trailing byte":     append(bytes.Clone(whole), 0),
		"empty":             {},
	} {
		if space.decode(body, &z) {
			t.Errorf("%s: accepted as %+v", name, space.call)
		}
	}
}

func TestCallsThatCannotTravel(t *testing.T) {
	t.Parallel()
	tests := map[string]*limiter.Call{
		"without limits": {},
		"33 limits":      {Charges: make([]limiter.Charge, 33)},
	}
	for name, zone := range map[string]*time.Location{"local zone": time.Local, "endless zone": time.FixedZone(strings.Repeat("x", 65), 0)} {
		c := call(1, 1)
		c.Charges[0].Limit.Zone = zone
		tests[name] = c
	}
	for name, c := range tests {
		if _, err := appendCall(nil, c); err == nil {
			t.Errorf("%s: encoded", name)
		}
	}
}

func TestRepliesSurviveTheWire(t *testing.T) {
	t.Parallel()
	results := []limiter.Result{
		{Allowed: true, Source: limiter.SourceOwner, Limit: 1, Remaining: math.MaxInt64, NextUnit: 1, ResetAfter: math.MaxInt64},
		{Source: limiter.SourceFailClosed, RetryAfter: limiter.Never, NextUnit: limiter.Never, Delay: time.Second},
	}
	var b []byte
	for _, code := range Codes() {
		b = appendReply(b, uint64(code), code, results)
	}
	d := decoder{rest: b}
	var r reply
	for _, code := range Codes() {
		if err := r.next(&d); err != nil {
			t.Fatal(err)
		}
		if r.code != code || r.slot != uint64(code) {
			t.Errorf("got %v for slot %d, want %v", r.code, r.slot, code)
		}
		if code == CodeOK && !reflect.DeepEqual(r.results, results) {
			t.Errorf("got %+v, want %+v", r.results, results)
		}
		if code != CodeOK && len(r.results) > 0 {
			t.Errorf("%v comes with results", code)
		}
	}
	if !d.whole() {
		t.Error("bytes left over")
	}
}

func TestHellosSurviveTheWire(t *testing.T) {
	t.Parallel()
	want := newHello(node("n1"), "n2")
	frame := encodeHello(want)
	later := append(bytes.Clone(frame), "fields of a later version"...)
	for _, f := range [][]byte{frame, later} {
		got, err := decodeHello(f[headerBytes:])
		if err != nil || *got != *want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestRefusalsFitAHello(t *testing.T) {
	t.Parallel()
	long := Identity{ID: strings.Repeat("i", 255), Version: strings.Repeat("v", 255)}
	other := Identity{ID: strings.Repeat("j", 255), Version: strings.Repeat("w", 255)}
	h := newHello(other, "")
	h.min, h.max = 250, 255
	frame := encodeRefusal(judge(long, h, ""))
	if len(frame) > maxHelloBytes {
		t.Errorf("a refusal takes %d bytes", len(frame))
	}
	if r, err := decodeRefusal(frame[headerBytes:]); err != nil || r.reason != reasonVersion || !r.remote {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestNumbersOnTheWire pins what older and newer nodes rely on.
func TestNumbersOnTheWire(t *testing.T) {
	t.Parallel()
	for i, code := range Codes() {
		if int(code) != i {
			t.Errorf("%v is %d", code, i)
		}
	}
	if got := Code(200).String(); got != "code(200)" {
		t.Errorf("an unknown code is called %q", got)
	}
	body, err := appendCall(nil, &limiter.Call{Op: limiter.Take, Subject: limiter.Subject{Hi: 1, Lo: 2},
		Charges: []limiter.Charge{{Tag: 3, Cost: 4, Limit: &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 5, Period: time.Millisecond, Burst: 6}}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1,
		3, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 5, 0xc0, 0x84, 0x3d, 6}
	if !bytes.Equal(body, want) {
		t.Errorf("a call is written as %v, want %v", body, want)
	}
	frame := appendPing(nil, framePing, 9, 1)
	if want := []byte{5, 9, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1}; !bytes.Equal(frame, want) {
		t.Errorf("a ping is written as %v, want %v", frame, want)
	}
	if n := binary.LittleEndian.Uint32(encodeHello(newHello(node("n"), ""))[5:]); n != magic {
		t.Errorf("a hello begins with %x", n)
	}
}
