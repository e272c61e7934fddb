package cluster

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var testEpoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func nobodyAlive(string, uint64) bool { return false }

func word(id string, incarnation uint64, state State, age time.Duration) placed {
	return placed{id: id, entry: entry{incarnation, state}, age: age}
}

func TestStatesAreOrdered(t *testing.T) {
	t.Parallel()
	inOrder := []State{StateJoining, StateActive, StateLeaving, StateLeft, StateEvicted}
	for i, s := range inOrder[1:] {
		if later, earlier := (entry{7, s}), (entry{7, inOrder[i]}); !later.over(earlier) || earlier.over(later) {
			t.Errorf("%v is not over %v", s, inOrder[i])
		}
		if newer, older := (entry{8, inOrder[i]}), (entry{7, s}); !newer.over(older) {
			t.Errorf("a new boot's %v is not over the last one's %v", newer.state, older.state)
		}
	}
	if e := (entry{7, StateActive}); e.over(e) {
		t.Error("an entry is over itself")
	}
	for _, s := range []State{0, StateEvicted + 1} {
		if s.known() {
			t.Errorf("%v is known", s)
		}
	}
}

func TestPlacementMerge(t *testing.T) {
	t.Parallel()
	var p placement
	for _, step := range []struct {
		name    string
		at      time.Duration
		word    placed
		changed bool
		owners  []string
	}{
		{"a member", 0, word("a", 1, StateActive, 0), true, []string{"a"}},
		{"the same again", 0, word("a", 1, StateActive, 0), false, []string{"a"}},
		{"another one", 0, word("b", 5, StateActive, 0), true, []string{"a", "b"}},
		{"an older boot's leaving", 0, word("b", 4, StateLeft, 0), false, []string{"a", "b"}},
		{"leaving", 0, word("b", 5, StateLeaving, 0), true, []string{"a"}},
		{"late news of its being active", 0, word("b", 5, StateActive, 0), false, []string{"a"}},
		{"left", 0, word("b", 5, StateLeft, 0), true, []string{"a"}},
		{"left, heard of later", 10 * time.Minute, word("b", 5, StateLeft, time.Minute), false, []string{"a"}},
		{"a new boot", 10 * time.Minute, word("b", 6, StateActive, 0), true, []string{"a", "b"}},
		{"evicted", 20 * time.Minute, word("b", 6, StateEvicted, 0), true, []string{"a"}},
		{"left is not over evicted", 20 * time.Minute, word("b", 6, StateLeft, 0), false, []string{"a"}},
	} {
		var changed bool
		p, changed = p.merge([]placed{step.word}, testEpoch.Add(step.at), nobodyAlive)
		if owners := p.owners(); changed != step.changed || !slices.Equal(owners, step.owners) {
			t.Errorf("%s: changed %v, owners %q; want %v, %q", step.name, changed, owners, step.changed, step.owners)
		}
	}
}

func TestMergeLeavesTheOldPlacementAlone(t *testing.T) {
	t.Parallel()
	before, _ := placement{}.merge([]placed{word("a", 1, StateActive, 0)}, testEpoch, nobodyAlive)
	kept := maps.Clone(before.records)
	before.merge([]placed{word("a", 1, StateLeft, 0), word("b", 1, StateActive, 0)}, testEpoch, nobodyAlive)
	if !maps.Equal(before.records, kept) {
		t.Errorf("merging changed %v to %v", kept, before.records)
	}
}

// Two nodes that keep telling each other of a tombstone do not keep it alive.
func TestTombstonesEnd(t *testing.T) {
	t.Parallel()
	a, _ := placement{}.merge([]placed{word("gone", 3, StateLeft, 0)}, testEpoch, nobodyAlive)
	b := placement{}
	for at := time.Duration(0); at < tombstoneLife; at += time.Minute {
		now := testEpoch.Add(at)
		a.sweep(now)
		b.sweep(now)
		b, _ = b.merge(a.entries(now), now, nobodyAlive)
		a, _ = a.merge(b.entries(now), now, nobodyAlive)
		if len(a.records) != 1 || len(b.records) != 1 {
			t.Fatalf("after %v: %v, %v", at, a.records, b.records)
		}
	}
	a.sweep(testEpoch.Add(tombstoneLife))
	if len(a.records) != 0 {
		t.Errorf("not forgotten: %v", a.records)
	}
	now := testEpoch.Add(tombstoneLife)
	a, changed := a.merge(b.entries(now), now, nobodyAlive)
	if changed {
		t.Errorf("brought back by a slower node: %v", a.records)
	}
}

// A node that missed a departure for longer than the tombstone lives does not
// bring the member back.
func TestForgottenMemberIsNotResurrected(t *testing.T) {
	t.Parallel()
	stale, _ := placement{}.merge([]placed{word("gone", 3, StateActive, 0), word("stayed", 2, StateActive, 0)}, testEpoch, nobodyAlive)
	p, _ := stale.merge([]placed{word("gone", 3, StateLeft, 0)}, testEpoch, nobodyAlive)
	now := testEpoch.Add(2 * tombstoneLife)
	p.sweep(now)
	p, _ = p.merge(stale.entries(now), now, nobodyAlive)
	if got := p.owners(); !slices.Equal(got, []string{"stayed"}) {
		t.Errorf("owners %q", got)
	}
	stale, _ = stale.merge(p.entries(now), now, nobodyAlive)
	if got := stale.owners(); !slices.Equal(got, []string{"stayed"}) {
		t.Errorf("owners of the node that was out of touch: %q", got)
	}

	alive := func(id string, incarnation uint64) bool { return id == "old-boot" && incarnation <= 1 }
	p, _ = p.merge([]placed{word("old-boot", 1, StateActive, 0), word("new-boot", 9, StateActive, 0)}, now, alive)
	if got := p.owners(); !slices.Equal(got, []string{"new-boot", "old-boot", "stayed"}) {
		t.Errorf("owners %q: live members and newer boots are believed", got)
	}
}

func drawEntries(t *rapid.T, label string) []placed {
	ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-e]`), 0, 5, rapid.ID[string]).Draw(t, label+" ids")
	slices.Sort(ids)
	entries := make([]placed, len(ids))
	for i, id := range ids {
		entries[i] = word(id,
			rapid.Uint64Range(1, 3).Draw(t, "incarnation"),
			State(rapid.IntRange(int(StateJoining), int(StateEvicted)).Draw(t, "state")), 0)
	}
	return entries
}

// In whatever order and however often words arrive, the outcome is the same.
func TestMergeIsALattice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := [][]placed{drawEntries(t, "first"), drawEntries(t, "second"), drawEntries(t, "third")}
		order := rapid.Permutation([]int{0, 1, 2, 0, 1, 2}).Draw(t, "order")
		var inTurn, shuffled placement
		for _, w := range words {
			inTurn, _ = inTurn.merge(w, testEpoch, nobodyAlive)
		}
		for _, i := range order {
			shuffled, _ = shuffled.merge(words[i], testEpoch, nobodyAlive)
		}
		if !maps.Equal(inTurn.records, shuffled.records) {
			t.Fatalf("%v against %v", inTurn.records, shuffled.records)
		}
	})
}

func FuzzPlacement(f *testing.F) {
	f.Add(encodePlacement(1, nil))
	f.Add(encodePlacement(1, []placed{
		word("a", 1, StateActive, 0), word("b.c-d_e", 1<<63, StateLeft, time.Minute), word("z", 0, StateEvicted, 2*tombstoneLife),
	}))
	f.Add([]byte{placementVersion})
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := decodePlacement(1, b)
		if err != nil {
			if !errors.Is(err, ErrPlacement) || entries != nil {
				t.Fatalf("entries %v with error %v", entries, err)
			}
			return
		}
		again, err := decodePlacement(1, encodePlacement(1, entries))
		if err != nil || !slices.Equal(again, entries) {
			t.Fatalf("%v became %v, %v", entries, again, err)
		}
	})
}

func TestDecodePlacementRefuses(t *testing.T) {
	t.Parallel()
	good := encodePlacement(1, []placed{word("a", 1, StateActive, 0), word("b", 2, StateLeft, time.Minute)})
	if _, err := decodePlacement(1, good); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"nothing":            nil,
		"another version":    append([]byte{placementVersion + 1}, good[1:]...),
		"another cluster":    encodePlacement(2, nil),
		"ids out of order":   encodePlacement(1, []placed{word("b", 1, StateActive, 0), word("a", 1, StateActive, 0)}),
		"an id twice":        encodePlacement(1, []placed{word("a", 1, StateActive, 0), word("a", 2, StateActive, 0)}),
		"an unusable id":     encodePlacement(1, []placed{word("a b", 1, StateActive, 0)}),
		"an unknown state":   encodePlacement(1, []placed{word("a", 1, 9, 0)}),
		"bytes after it":     append(slices.Clone(good), 0),
		"too many members":   append(encodePlacement(1, nil)[:9], 0xff, 0xff, 0x7f),
		"more than it holds": append(encodePlacement(1, nil)[:9], 3),
	} {
		if entries, err := decodePlacement(1, b); !errors.Is(err, ErrPlacement) {
			t.Errorf("%s: %v, error %v", name, entries, err)
		}
	}
	for n := range good {
		if _, err := decodePlacement(1, good[:n]); !errors.Is(err, ErrPlacement) {
			t.Errorf("cut after %d bytes: error %v", n, err)
		}
	}
}
