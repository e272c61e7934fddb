package limiter_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/limiter/limitertest"
)

// A chooser makes the decisions of a walk: rapid's generators, or the bytes
// of a fuzzer.
type chooser interface {
	// choose returns a number from 0 to n-1.
	choose(n int64) int64
}

func pick[T any](c chooser, from ...T) T { return from[c.choose(int64(len(from)))] }

// maxWalkSlots is more than the counters and cool-downs of a walk.
const maxWalkSlots = 48

// walk is a random history that a table and the oracle live through
// together.
type walk struct {
	chooser
	table    *limiter.Table
	oracle   *limitertest.Oracle
	now      limiter.Instant
	limits   []*limiter.Limit
	cools    []limiter.Charge // the cool-downs of the limits
	last     limiter.Result
	admitted bool // the last call
	holds    []walkHold
	receipts []walkReceipt
	tried    int   // holds and receipts, admitted or not
	clock    int64 // the latest Instant.Mono
	steady   bool  // limits do not change, so sweeping must not show
	drifts   bool  // Wall runs at another rate than Mono
	log      strings.Builder
}

func newWalk(c chooser, algorithms ...limiter.Algorithm) *walk {
	w := &walk{
		chooser: c,
		table:   limiter.NewTable(limiter.TableOptions{MaxKeys: 64}), // one shard: one exact clock
		oracle:  limitertest.NewOracle(),
		steady:  c.choose(2) == 0,
		drifts:  c.choose(2) == 0,
	}
	w.clock = math.MinInt64
	start := pick(c, int64(0), -1, -5_000_000_000, 1_588_159_072_000_000_000, 1_709_164_799_999_999_999)
	w.now = limiter.Instant{Mono: start + pick(c, int64(0), 12345), Wall: start}
	// A table that grows drops what has expired, which must not show only if
	// limits do not change.
	w.table.Reserve(maxWalkSlots)
	for i, a := range algorithms {
		l := randomLimit(c, a)
		l.Name = fmt.Sprintf("l%d", i)
		w.limits = append(w.limits, &l)
		w.cools = append(w.cools, limiter.Charge{})
		fmt.Fprintf(&w.log, "limit %+v\n", l)
	}
	return w
}

func randomLimit(c chooser, a limiter.Algorithm) limiter.Limit {
	l := limiter.Limit{
		Algorithm: a,
		Period: pick(c, time.Millisecond, 7*time.Millisecond, time.Second, 3*time.Second, time.Minute,
			time.Hour+1, 24*time.Hour, 30*24*time.Hour, limiter.MaxPeriod),
	}
	if c.choose(4) == 0 {
		l.Period = limiter.MinPeriod + time.Duration(c.choose(int64(time.Minute)))
	}
	changeCount(c, &l)
	if a.Windowed() {
		l.Align = pick(c, limiter.AlignEpoch, limiter.AlignFirst, limiter.AlignCalendar)
		if l.Align == limiter.AlignCalendar {
			l.Calendar = pick(c, limiter.Minute, limiter.Hour, limiter.Day, limiter.Week, limiter.Month)
			l.Zone = pick(c, zones...)
			if l.Calendar == limiter.Month {
				l.Anchor = int(c.choose(32))
			}
		}
	}
	return l
}

var zones = []*time.Location{
	nil, mustZone("America/Sao_Paulo"), mustZone("America/St_Johns"),
	mustZone("Australia/Lord_Howe"), mustZone("Pacific/Apia"),
}

func mustZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return zone
}

// changeCount gives l another count and burst.
func changeCount(c chooser, l *limiter.Limit) {
	l.Count = pick(c, int64(1), 2, 3, 7, 10, 997, 10_000, 0, 1_000_003, limiter.MaxCount)
	if l.Algorithm == limiter.SlidingLog {
		l.Count = min(l.Count, limiter.MaxLogCount)
	}
	if l.Algorithm == limiter.TokenBucket || l.Algorithm == limiter.LeakyBucket {
		l.Burst = min(pick(c, int64(0), 1, 3, l.Count/2, l.Count*2, limiter.MaxCount), limiter.MaxCount)
	}
}

// step makes one step and returns what went wrong in it, or "".
func (w *walk) step() string {
	w.moveClock()
	if i := w.choose(8); i == 0 && !w.steady {
		l := *w.limits[w.choose(int64(len(w.limits)))] // a copy: a limit is read-only once used
		changeCount(w, &l)
		for at := range w.limits {
			if w.limits[at].Name == l.Name {
				w.limits[at] = &l
			}
		}
		fmt.Fprintf(&w.log, "%s is now %d, burst %d\n", l.Name, l.Count, l.Burst)
	} else if i == 1 && w.steady {
		w.table.Sweep(w.now, 1000)
	}

	if w.choose(8) == 0 {
		w.changeCooldown()
	}

	w.clock = max(w.clock, w.now.Mono)
	if w.choose(4) == 0 {
		if call, ok := w.endHold(); ok {
			return w.compare(&call)
		}
	}
	if w.choose(4) == 0 {
		if call, ok := w.settlement(); ok {
			return w.compare(&call)
		}
	}
	call := limiter.Call{
		Op:      pick(w, limiter.Take, limiter.Take, limiter.Take, limiter.Take, limiter.Take, limiter.Take, limiter.Peek, limiter.Reset),
		Subject: limiter.Subject{Hi: uint64(w.choose(2)), Lo: 7},
	}
	if call.Op == limiter.Reset && w.choose(3) > 0 {
		call.Op = limiter.Take
	}
	skip := w.choose(int64(2*len(w.limits) + 1)) // may leave one limit out
	for i, l := range w.limits {
		if int64(i) == skip && len(w.limits) > 1 {
			continue
		}
		cool := &w.cools[i]
		call.Charges = append(call.Charges, limiter.Charge{Limit: l, Tag: l.Tag(), Cost: w.cost(l), Cooldown: cool.Cooldown, Extend: cool.Extend})
	}
	call.Patient = w.choose(8) == 0
	if call.Op == limiter.Take {
		w.open(&call)
	}
	if call.Op == limiter.Take && len(w.holds) < maxWalkHolds && w.choose(3) == 0 {
		return w.hold(&call)
	}
	wrong := w.compare(&call)
	if w.admitted {
		w.keep(&call)
	}
	return wrong
}

// changeCooldown gives a limit another cool-down.
func (w *walk) changeCooldown() {
	i := w.choose(int64(len(w.limits)))
	period := w.limits[i].Period
	cool := &w.cools[i]
	cool.Cooldown = min(pick(w, 0, 1, time.Second, 3*time.Second, period/2, period, 2*period, limiter.MaxCooldown), limiter.MaxCooldown)
	cool.Extend = w.choose(2) == 0
	fmt.Fprintf(&w.log, "%s cools down for %v, extend %v\n", w.limits[i].Name, cool.Cooldown, cool.Extend)
}

func (w *walk) cost(l *limiter.Limit) int64 {
	return pick(w, int64(1), 1, 1, 1, 0, 2, 3, l.Capacity(), l.Capacity()+1, l.Capacity()/2, w.last.Remaining, 1<<63-1)
}

// moveClock goes to where limits turn over, and now and then back.
func (w *walk) moveClock() {
	l := w.limits[w.choose(int64(len(w.limits)))]
	year := 365 * 24 * time.Hour
	ahead := pick(w, time.Duration(0), 0, 0, 1, w.last.RetryAfter, w.last.RetryAfter, w.last.RetryAfter-1, w.last.NextUnit,
		w.last.ResetAfter, w.last.ResetAfter-1, l.Period, l.Period/3, l.Period*2, l.Period-1,
		l.Period/time.Duration(l.Count+1), l.WindowEnd(w.now), l.WindowEnd(w.now)-1,
		time.Millisecond, time.Second-time.Millisecond, limiter.MaxLapse, // lapses of holds, and sums of them
		year, -time.Hour, -1, -l.Period)
	if w.steady && w.drifts {
		ahead = max(ahead, 0)
	}
	if ahead > 10*year { // a century later nothing new is to be seen
		ahead = 10 * year
	}
	if w.now.Wall > int64(50*year) && ahead > year {
		ahead = year
	}
	if w.now.Wall > int64(80*year) && ahead > time.Hour {
		ahead = time.Hour
	}
	w.now.Mono += int64(ahead)
	w.now.Wall += int64(ahead)
	// Going to and fro would add up to more drift than 1/1000 of the time
	// that passes, which is all that expiry allows for.
	if w.drifts {
		w.now.Wall += pick(w, int64(ahead)/1000, -int64(ahead)/1000)
	}
}

// compare asks both and says how the answers differ, or "".
func (w *walk) compare(call *limiter.Call) string {
	got, want := make([]limiter.Result, len(call.Charges)), make([]limiter.Result, len(call.Charges))
	fmt.Fprintf(&w.log, "%+v op %d %v %d patient %v", w.now, call.Op, call.Subject, call.Hold.Lo, call.Patient)
	for i := range call.Charges {
		fmt.Fprintf(&w.log, " %s:%d", call.Charges[i].Limit.Name, call.Charges[i].Cost)
	}
	w.log.WriteString("\n")
	w.oracle.Do(w.now, call, want)
	if err := w.table.Do(w.now, call, got); err != nil {
		return err.Error()
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Sprintf("%s: got %+v, want %+v", call.Charges[i].Limit.Name, got[i], want[i])
		}
	}
	w.last = got[0]
	w.admitted = true
	for i := range got {
		w.admitted = w.admitted && got[i].Allowed
	}
	return ""
}

type rapidChooser struct{ *rapid.T }

func (c rapidChooser) choose(n int64) int64 { return rapid.Int64Range(0, n-1).Draw(c.T, "choice") }

func TestTableAgainstOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := rapidChooser{t}
		algorithms := make([]limiter.Algorithm, 1+c.choose(3))
		for i := range algorithms {
			algorithms[i] = pick(c, spending...)
		}
		w := newWalk(c, algorithms...)
		for range 30 {
			if wrong := w.step(); wrong != "" {
				t.Fatalf("%s\n%s", w.log.String(), wrong)
			}
		}
	})
}
