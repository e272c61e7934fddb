package transport

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		gone   time.Duration
		jitter float64
		want   time.Duration
	}{
		{0, 0.5, 50 * time.Millisecond},
		{0, 0, 37500 * time.Microsecond},
		{500 * time.Millisecond, 0.5, 50 * time.Millisecond},
		{2 * time.Second, 0.5, 200 * time.Millisecond},
		{2 * time.Second, 1, 250 * time.Millisecond},
		{time.Hour, 0.5, time.Second},
	} {
		if got := backoff(test.gone, test.jitter); got != test.want {
			t.Errorf("backoff(%v, %v) = %v, want %v", test.gone, test.jitter, got, test.want)
		}
	}
}

func TestExchange(t *testing.T) {
	t.Parallel()
	var e exchange
	for i, step := range []struct {
		at           time.Duration
		mine, theirs uint64
		want         bool
	}{
		{0, 1, 1, false},
		{0, 1, 2, true},
		{stateEvery - 1, 1, 2, false},
		{stateEvery - 1, 3, 2, true},
		{stateEvery, 3, 3, false},
		{stateEvery, 3, 2, false},
		{2*stateEvery - 1, 3, 2, true},
	} {
		if got := e.due(step.at, step.mine, step.theirs); got != step.want {
			t.Errorf("step %d: due %v, want %v", i, got, step.want)
		}
	}
}

// TestArrivalIsDatedBack: bytes that a read finds there may have come while
// nobody read.
func TestArrivalIsDatedBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var waits time.Duration
		c := newClock()
		r := stampedReader{clock: c, from: readerFunc(func(p []byte) (int, error) { time.Sleep(waits); return len(p), nil })}
		for i, step := range []struct{ busy, waits, at time.Duration }{
			{0, 10 * time.Millisecond, 10 * time.Millisecond},
			{20 * time.Millisecond, 0, 10 * time.Millisecond},
			{0, 0, 30 * time.Millisecond},
			{20 * time.Millisecond, atOnce, 50*time.Millisecond + atOnce},
		} {
			time.Sleep(step.busy)
			waits = step.waits
			if _, err := r.Read(make([]byte, 1)); err != nil || r.at != step.at {
				t.Errorf("step %d: came at %v, want %v", i, r.at, step.at)
			}
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestCallQueue(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ withdraw, want string }{
		{"", "abcd"}, {"a", "bcd"}, {"d", "abc"}, {"bc", "ad"}, {"cb", "ad"}, {"abcd", ""},
	} {
		var q callQueue
		byName := make(map[rune]*pending)
		for _, name := range "abcd" {
			p := &pending{call: []byte(string(name))}
			byName[name] = p
			q.push(p)
		}
		for _, name := range test.withdraw {
			q.remove(byName[name])
		}
		if q.n != len(test.want) {
			t.Errorf("without %q: counts %d", test.withdraw, q.n)
		}
		var got string
		for q.first != nil {
			got += string(q.first.call)
			q.remove(q.first)
		}
		if got != test.want || q.n != 0 || q.last != nil {
			t.Errorf("without %q: %q, then %d left", test.withdraw, got, q.n)
		}
	}
}

func TestSlotTable(t *testing.T) {
	t.Parallel()
	var table slotTable
	a, b, c := &pending{}, &pending{}, &pending{}
	if table.put(a) != 0 || table.put(b) != 1 || table.used != 2 {
		t.Fatal("slots are not handed out in order")
	}
	if table.take(0) != a || table.take(0) != nil || table.take(7) != nil {
		t.Error("a slot gives its call once")
	}
	if table.put(c) != 0 || table.take(1) != b || table.take(0) != c || table.used != 0 {
		t.Error("a free slot is used again")
	}
}

func TestPingLog(t *testing.T) {
	t.Parallel()
	var l pingLog
	for i := range 40 {
		if got := l.next(time.Duration(i)); got != uint64(i)+1 {
			t.Fatalf("ping %d has number %d", i, got)
		}
	}
	for _, test := range []struct {
		seq uint64
		at  time.Duration
		ok  bool
	}{{0, 0, false}, {8, 0, false}, {9, 8, true}, {40, 39, true}, {41, 0, false}} {
		if at, ok := l.answer(test.seq); at != test.at || ok != test.ok {
			t.Errorf("answer(%d) = %v, %v", test.seq, at, ok)
		}
	}
	if l.open() {
		t.Error("the newest ping was answered")
	}
}

func TestZonesAreRemembered(t *testing.T) {
	t.Parallel()
	mustZone(t, "Europe/Lisbon")
	var z zones
	first, err := z.find([]byte("Europe/Lisbon"))
	second, again := z.find([]byte("Europe/Lisbon"))
	if err != nil || again != nil || first != second {
		t.Errorf("%v, %v, %v, %v", first, err, second, again)
	}
	if _, err := z.find([]byte("Nowhere/City")); !errors.Is(err, errZone) || len(z.byName) != 1 {
		t.Errorf("an unknown zone: %v, %d remembered", err, len(z.byName))
	}
}

func TestLogIsSampled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out logBuffer
		log := newSampledLog(out.logger(), newClock())
		lines := func() int { return strings.Count(out.String(), "\n") }
		for port := range 100 { // the same but for the port
			log.write(slog.LevelWarn, "rejected", "", &net.OpError{Op: "read", Err: errors.New("reset"), Source: &net.TCPAddr{Port: port}})
		}
		log.write(slog.LevelWarn, "rejected", "n2", errors.New("reset"))
		log.write(slog.LevelWarn, "rejected", "n3", errors.New("reset"))
		if lines() != 3 || !strings.Contains(out.String(), "lines_omitted=99") {
			t.Errorf("%d lines, want 3, the second with what was left out:\n%s", lines(), &out)
		}
		for i := range 100 {
			log.write(slog.LevelWarn, strings.Repeat("x", i+1), "", nil)
		}
		if lines() != sampleTexts {
			t.Errorf("%d lines, want %d", lines(), sampleTexts)
		}
		time.Sleep(sampleEvery)
		log.write(slog.LevelWarn, "rejected", "n2", errors.New("reset"))
		if lines() != sampleTexts+1 || !strings.Contains(out.String(), "lines_omitted=71") {
			t.Errorf("the next period is silent or does not say what was left out:\n%s", &out)
		}
	})
}
