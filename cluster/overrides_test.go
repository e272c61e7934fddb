package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// disk is an OverrideStore in memory.
type disk struct {
	mu      sync.Mutex
	records map[string][]byte
	broken  bool
	puts    int
}

func (d *disk) Put(records map[string][]byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.puts++
	if d.broken {
		return errors.New("no space left")
	}
	if d.records == nil {
		d.records = make(map[string][]byte)
	}
	for key, value := range records {
		if value == nil {
			delete(d.records, key)
		} else {
			d.records[key] = value
		}
	}
	return nil
}

func (d *disk) setBroken(broken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = broken
}

func (d *disk) saved() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.records)
}

// overridesOf are those of one node, with a disk if it is not nil, until the
// test ends.
func overridesOf(t *testing.T, node string, d *disk) *Overrides {
	t.Helper()
	o := OverridesOptions{Node: node}
	if d != nil {
		o.Store, o.Saved = d, d.saved()
	}
	return startOverrides(t, o)
}

func startOverrides(t *testing.T, o OverridesOptions) *Overrides {
	t.Helper()
	m := NewOverrides(o)
	m.Start()
	t.Cleanup(func() { m.shut() })
	return m
}

// shut ends m as if it was killed.
func (m *Overrides) shut() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	select {
	case <-m.closing:
	default:
		_ = m.Close(ctx)
	}
}

// kept are the records that m has by now.
func (m *Overrides) kept() map[limiter.Subject]*overrideRecord {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.records)
}

// tell has b know what a knows, as a new connection does.
func tell(t *testing.T, a *Overrides, to ...*Overrides) {
	t.Helper()
	for _, b := range to {
		for told := uint64(0); told < a.Head(); {
			var message []byte
			if message, told = a.Since(nil, told, 200); len(message) == 0 {
				continue
			}
			if err := b.Merge(message); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func numbered(n int) limiter.Subject { return limiter.Subject{Hi: uint64(n), Lo: 7} }

func set(t *testing.T, m *Overrides, subject int, value string, expiresIn time.Duration) {
	t.Helper()
	if _, err := m.Set(numbered(subject), []byte(value), expiresIn); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, m *Overrides, subject int, want bool) {
	t.Helper()
	if was, err := m.Remove(numbered(subject)); err != nil || was != want {
		t.Fatalf("removed: %v, %v", was, err)
	}
}

// shows fails the test unless all nodes have the same overrides in force,
// "1=a 2=b".
func shows(t *testing.T, when, want string, nodes ...*Overrides) {
	t.Helper()
	for _, m := range nodes {
		var got []string
		for _, o := range m.All() {
			got = append(got, fmt.Sprintf("%d=%s", o.Subject.Hi, o.Value))
		}
		if strings.Join(got, " ") != want || m.Len() != len(got) {
			t.Errorf("%s: %s has %q (%d), want %q", when, m.o.Node, got, m.Len(), want)
		}
	}
}

func TestTheLastWordWins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := overridesOf(t, "a", nil), overridesOf(t, "b", nil)
		set(t, a, 1, "from a", 0)
		set(t, b, 1, "from b", 0) // at the same instant: the higher id
		set(t, a, 2, "older", 0)
		time.Sleep(time.Second)
		set(t, b, 2, "newer", 0)
		tell(t, a, b)
		tell(t, b, a)
		shows(t, "after a cut", "1=from b 2=newer", a, b)
		set(t, a, 1, "corrected", 0) // with a clock that has not moved
		tell(t, a, b)
		shows(t, "later", "1=corrected 2=newer", a, b)
		o, ok := b.Get(numbered(1))
		if !ok || o.Node != "a" || o.Left() != 0 {
			t.Errorf("%+v, %v", o, ok)
		}
	})
}

func TestRemovalIsAWordToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, away := overridesOf(t, "a", nil), overridesOf(t, "b", nil), overridesOf(t, "away", nil)
		set(t, a, 1, "x", 0)
		tell(t, a, b, away)
		remove(t, b, 1, true)
		remove(t, b, 1, false)
		tell(t, b, a)
		shows(t, "removed", "", a, b)
		time.Sleep(endedLife - time.Minute)
		tell(t, away, a)
		shows(t, "told of again", "", a)
		tell(t, a, away)
		shows(t, "told of the removal", "", away)
		set(t, away, 1, "anew", 0)
		tell(t, away, a)
		shows(t, "set again", "1=anew", a, away)
	})
}

// A removal is remembered for a day. Later it takes its age to tell that an
// override is older, while one of a node that has forgotten all is not.
func TestRemovalThatIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, away := overridesOf(t, "a", nil), overridesOf(t, "away", nil)
		set(t, a, 1, "x", 0)
		set(t, a, 2, "lasting", 0)
		tell(t, a, away)
		remove(t, a, 1, true)
		time.Sleep(endedLife + 2*forgetEvery)
		if left := len(a.kept()); left != 1 {
			t.Errorf("%d records are left", left)
		}
		tell(t, away, a)
		shows(t, "from a node that was away", "2=lasting", a)
		tell(t, a, away)
		shows(t, "and there", "2=lasting", away)

		s := saidOverride{subject: numbered(4), overrideVersion: overrideVersion{1, "b"}, ended: true, age: endedLife}
		if before := a.Head(); a.Merge(appendOverride([]byte{overrideFormat}, &s)) != nil || a.Head() != before {
			t.Error("what ended long ago is news")
		}

		fresh := overridesOf(t, "fresh", nil)
		set(t, fresh, 3, "new", 0)
		tell(t, fresh, a)
		shows(t, "from a node without memory", "2=lasting 3=new", a)
	})
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var changes atomic.Int64
		b := startOverrides(t, OverridesOptions{Node: "b", Changed: func(s []limiter.Subject) { changes.Add(int64(len(s))) }})
		a, away := overridesOf(t, "a", nil), overridesOf(t, "away", nil)
		set(t, a, 1, "for good", 0)
		tell(t, a, away)
		set(t, a, 1, "for now", 45*time.Second)
		set(t, a, 2, "for long", time.Hour)
		time.Sleep(20 * time.Second)
		tell(t, a, b) // which does not make it longer
		if o, ok := b.Get(numbered(1)); !ok || o.Left() != 25*time.Second {
			t.Errorf("%v are left, %v", o.Left(), ok)
		}
		time.Sleep(25*time.Second - time.Millisecond)
		shows(t, "before", "1=for now 2=for long", a, b)
		before := changes.Load()
		time.Sleep(2 * expireEvery)
		shows(t, "after", "2=for long", a, b)
		if told := changes.Load() - before; told != 1 {
			t.Errorf("%d changes were told", told)
		}
		tell(t, away, a)
		shows(t, "what it had replaced does not come back", "2=for long", a)
		tell(t, a, away)
		shows(t, "nor stay", "2=for long", away)
	})
}

// What is set again before it expires lasts as was said last.
func TestExpiryIsThatOfTheLastWord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := overridesOf(t, "a", nil), overridesOf(t, "b", nil)
		set(t, a, 1, "short", time.Minute)
		tell(t, a, b)
		set(t, b, 1, "long", time.Hour)
		tell(t, b, a)
		time.Sleep(30 * time.Minute)
		shows(t, "half an hour later", "1=long", a, b)
	})
}

func TestSetTakesThePlaceOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := overridesOf(t, "a", nil), overridesOf(t, "b", nil)
		set(t, a, 1, "x", 0)
		set(t, a, 2, "y", 0)
		if _, err := a.Set(numbered(3), []byte("z"), 0, numbered(1), numbered(2), numbered(9)); err != nil {
			t.Fatal(err)
		}
		tell(t, a, b)
		shows(t, "one for all", "3=z", a, b)
	})
}

func TestThereIsAnEndToOverrides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := overridesOf(t, "a", nil), overridesOf(t, "b", nil)
		for n := range MaxOverrides {
			set(t, a, n, "x", 0)
		}
		_, err := a.Set(numbered(MaxOverrides), nil, 0)
		if !errors.Is(err, ErrOverridesFull) {
			t.Errorf("one more: %v", err)
		}
		set(t, a, 5, "instead", 0)
		remove(t, a, 6, true)
		set(t, a, MaxOverrides, "x", 0)
		set(t, b, MaxOverrides+1, "x", 0)
		tell(t, a, b)
		tell(t, b, a)
		if a.Len() != MaxOverrides+1 || b.Len() != a.Len() {
			t.Errorf("together %d and %d", a.Len(), b.Len())
		}
		if _, err := a.Set(numbered(1), make([]byte, MaxOverrideBytes+1), 0); !errors.Is(err, errOverrideLong) {
			t.Errorf("too long: %v", err)
		}
	})
}

// Removals are remembered up to a number, and then the newest of them.
func TestThereIsAnEndToMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, away := overridesOf(t, "a", nil), overridesOf(t, "away", nil)
		set(t, a, 0, "x", 0)
		tell(t, a, away)
		for n := range maxEnded + 1 {
			set(t, a, n, "x", 0)
			remove(t, a, n, true)
			if n%100 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(2 * expireEvery)
		kept := a.kept()
		if len(kept) > maxEnded || len(kept) < maxEnded/2 || len(a.changes.log) > 3*maxEnded {
			t.Errorf("%d are remembered, %d changes", len(kept), len(a.changes.log))
		}
		if kept[numbered(maxEnded)] == nil || kept[numbered(0)] != nil {
			t.Error("it is not the newest that are remembered")
		}
		tell(t, away, a)
		shows(t, "removed long ago", "", a)
	})
}

// A node that says something older is told again what it has missed.
func TestWhoIsBehindIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := overridesOf(t, "a", nil), overridesOf(t, "b", nil)
		set(t, a, 1, "old", 0)
		tell(t, a, b)
		set(t, a, 1, "new", 0)
		told := a.Head() // and yet b has not heard
		tell(t, b, a)
		message, _ := a.Since(nil, told, 1000)
		if err := b.Merge(message); err != nil {
			t.Fatal(err)
		}
		shows(t, "told again", "1=new", a, b)
		for range 3 {
			before := a.Head() + b.Head()
			tell(t, a, b)
			tell(t, b, a)
			if again := a.Head() + b.Head() - before; again != 0 {
				t.Errorf("%d changes among equals", again)
			}
		}
	})
}

func TestSinceKeepsToItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := overridesOf(t, "a", nil)
		for n := range 100 {
			set(t, a, n, strings.Repeat("x", rand.IntN(300)), 0)
		}
		set(t, a, 100, strings.Repeat("x", 2000), 0)
		prefix := []byte("before")
		records, told := 0, uint64(0)
		for told < a.Head() {
			out, upTo := a.Since(slices.Clone(prefix), told, 1000)
			said, err := decodeOverrides(out[len(prefix):])
			if err != nil || upTo <= told || string(out[:len(prefix)]) != "before" {
				t.Fatalf("%v, up to %d after %d", err, upTo, told)
			}
			if len(out)-len(prefix) > 1000 && len(said) > 1 {
				t.Errorf("%d bytes in %d records", len(out), len(said))
			}
			records, told = records+len(said), upTo
		}
		if records != 101 {
			t.Errorf("%d records", records)
		}
		if out, upTo := a.Since(prefix, told, 1000); string(out) != "before" || upTo != told {
			t.Errorf("nothing new: %q, %d", out, upTo)
		}
	})
}

func TestMessagesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := overridesOf(t, "a", nil), overridesOf(t, "b", nil)
		set(t, a, 1, "x", time.Hour)
		set(t, a, 2, "y", 0)
		message, _ := a.Since(nil, 0, 1000)
		one, _ := a.Since(nil, 0, 1)
		for cut := range message {
			if cut == len(one) || cut == 1 { // whole records
				continue
			}
			if err := b.Merge(message[:cut]); !errors.Is(err, errOverrides) {
				t.Errorf("%d bytes: %v", cut, err)
			}
		}
		shows(t, "nothing was taken in", "", b)
		for name, change := range map[string]func(*saidOverride){
			"a counter without successors": func(s *saidOverride) { s.counter = maxCounter + 1 },
			"no node":                      func(s *saidOverride) { s.node = "" },
			"a node that is none":          func(s *saidOverride) { s.node = "a b" },
			"too long":                     func(s *saidOverride) { s.value = make([]byte, MaxOverrideBytes+1) },
			"for ever and a day":           func(s *saidOverride) { s.left = maxOverrideTime + time.Second },
		} {
			s := saidOverride{subject: numbered(1), overrideVersion: overrideVersion{1, "a"}, value: []byte("x")}
			change(&s)
			if _, err := decodeOverrides(appendOverride([]byte{overrideFormat}, &s)); !errors.Is(err, errOverrides) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func FuzzOverrides(f *testing.F) {
	s := saidOverride{subject: numbered(1), overrideVersion: overrideVersion{300, "n1"}, value: []byte("x"), left: time.Hour}
	gone := saidOverride{subject: numbered(2), overrideVersion: overrideVersion{5, "n2"}, ended: true, age: time.Minute}
	f.Add(appendOverride(appendOverride([]byte{overrideFormat}, &s), &gone))
	f.Add([]byte{overrideFormat})
	f.Fuzz(func(t *testing.T, b []byte) {
		said, err := decodeOverrides(b)
		if err != nil {
			return
		}
		again := []byte{overrideFormat}
		for i := range said {
			again = appendOverride(again, &said[i])
		}
		twice, err := decodeOverrides(again)
		if err != nil || fmt.Sprint(twice) != fmt.Sprint(said) {
			t.Errorf("%v became %v, %v", said, twice, err)
		}
		m := NewOverrides(OverridesOptions{Node: "n"})
		defer m.shut()
		if err := m.Merge(b); err != nil {
			t.Error(err)
		}
	})
}
