package limiter

import (
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"
)

func TestSizes(t *testing.T) {
	t.Parallel()
	if s := unsafe.Sizeof(slot{}); s != 48 {
		t.Errorf("a slot has %d bytes", s)
	}
	if s := unsafe.Sizeof(logBlock{}); s != 64 {
		t.Errorf("a log block has %d bytes", s)
	}
	if s := unsafe.Sizeof(shard{}); s != 128 {
		t.Errorf("a shard has %d bytes", s)
	}
}

// Against a map, through growth, deletions and rebuilding, with identities
// that meet in few groups.
func TestSlotsAgainstMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	var s slots
	want := map[identity]int64{}
	for i := range 200_000 {
		id := identity{hi: random.Uint64N(700), lo: random.Uint64N(2)}
		at := s.find(id, TokenBucket)
		value, there := want[id]
		if (at >= 0) != there || there && s.at(at).state.a != value {
			t.Fatalf("step %d: %v: index %d, in the map %v", i, id, at, there)
		}
		switch {
		case there && random.Uint64N(2) == 0:
			s.remove(at)
			delete(want, id)
		case !there:
			if !s.room(1) {
				s = s.rebuilt(1)
			}
			at = s.insert(id, TokenBucket)
			s.at(at).state.a = int64(i)
			want[id] = int64(i)
		}
		if s.live != len(want) {
			t.Fatalf("step %d: %d live, want %d", i, s.live, len(want))
		}
	}
	if s.find(identity{hi: 1 << 40}, TokenBucket) >= 0 {
		t.Error("found what was never there")
	}
	for id := range want {
		if s.find(id, SlidingLog) >= 0 {
			t.Error("found a counter of another algorithm")
		}
	}
}

// A rebuilt table has room, and no more than it promises.
func TestRebuiltLoad(t *testing.T) {
	t.Parallel()
	for n := 1; n < 3000; n++ {
		s := (&slots{live: n - 1}).rebuilt(1)
		s.live, s.filled = n-1, n-1
		if !s.room(1) {
			t.Fatalf("no room for one more than %d", n-1)
		}
		if n > 100 && s.len()*10 > n*16 {
			t.Fatalf("%d slots for %d counters", s.len(), n)
		}
		if s.sparse() && n > 8 {
			t.Fatalf("%d slots for %d counters are sparse at once", s.len(), n)
		}
	}
}

// Logs that come and go leave no block behind, also when they are moved.
func TestLogSlab(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	slab := new(logSlab)
	logs := make([]callLog, 20)
	var want [20][]int64 // times of entries, of one unit each
	for at := range int64(50_000) {
		i := random.IntN(len(logs))
		switch random.Uint64N(20) {
		case 0:
			slab.drop(logs[i])
			logs[i], want[i] = callLog{}, nil
		case 1:
			upTo := at - random.Int64N(2000)
			logs[i], _ = slab.trim(logs[i], upTo)
			for len(want[i]) > 0 && want[i][0] <= upTo {
				want[i] = want[i][1:]
			}
		default:
			logs[i] = slab.push(logs[i], at/2, 1) // some at one instant
			want[i] = append(want[i], at/2)
		}
		if at%5000 == 0 {
			fresh := new(logSlab)
			for i := range logs {
				logs[i] = slab.move(logs[i], fresh)
			}
			slab = fresh
		}
		checkLog(t, slab, logs[i], want[i])
	}
	for _, g := range logs {
		slab.drop(g)
	}
	if slab.unused != len(slab.blocks) {
		t.Errorf("%d of %d blocks are free", slab.unused, len(slab.blocks))
	}
}

func checkLog(t *testing.T, slab *logSlab, g callLog, want []int64) {
	t.Helper()
	if g.units != int64(len(want)) || loadLog(g.state()) != g {
		t.Fatalf("%d units, want %d", g.units, len(want))
	}
	for _, units := range []int{1, len(want)/2 + 1, len(want)} {
		if len(want) > 0 && slab.leaveAt(g, int64(units)) != want[units-1] {
			t.Fatalf("entry %d of %d leaves wrongly", units, len(want))
		}
	}
}

func TestExpiryIsNeverEarly(t *testing.T) {
	t.Parallel()
	for _, mono := range []int64{minClock, -1, 0, 1_588_159_072_123_456_789, maxClock - 5, maxClock} {
		for _, rest := range []int64{0, 1, 1_000_000, 1 << 40, 1 << 55, 1 << 61, maxClock, 1<<63 - 1} {
			e := expiry(mono, time.Duration(rest))
			slow := rest + rest/1000 // by a clock that runs slower
			if slow < rest || mono > 0 && slow > maxClock-mono {
				if e != never {
					t.Errorf("%d + %d: expires at tick %d, want never", mono, rest, e)
				}
				continue
			}
			if e.over(min(mono+slow, maxClock)) {
				t.Errorf("%d + %d is over too early", mono, rest)
			}
			if soon := mono + rest + rest>>8 + 5_000_000_000; e != never && soon < maxClock && !e.over(soon) {
				t.Errorf("%d + %d is not over at %d", mono, rest, soon)
			}
		}
	}
}
