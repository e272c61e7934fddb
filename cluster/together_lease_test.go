package cluster

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// An acquisition goes the way of a take, and says of each call whether there
// may be something to release.
func TestDoAllAcquires(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		answer map[string][]string
		mode   bool
		asked  string
		admits string
		taken  string
	}{
		{"admitted", nil, false, "b hold, c hold, d acquire, [b occupy, c occupy]", "d b c", "d b c"},
		{"denied", map[string][]string{"c hold": {"deny"}}, false, "b hold, c hold, b cancel, d peek", "d b", ""},
		{"denied at the last", map[string][]string{"d acquire": {"deny"}}, false, "b hold, c hold, d acquire, [b cancel, c cancel]", "b c", ""},
		{"the hold had lapsed", map[string][]string{"c occupy": {"deny"}}, false,
			"b hold, c hold, d acquire, [b occupy, c occupy]", "d b", "d b c"},
		{"the last is lost, and denied", map[string][]string{"d acquire": {"lost"}}, false,
			"b hold, c hold, d acquire, mode acquire, [b cancel, c cancel]", "b c", "d"},
		{"occupying is lost, and admitted", map[string][]string{"b occupy": {"lost"}}, true,
			"b hold, c hold, d acquire, [b occupy, c occupy], mode acquire", "d b c", "d b c"},
		{"out of reach, and admitted", map[string][]string{"c": {"down"}}, true, "b hold, mode hold, d acquire, mode occupy, b occupy", "d b c", "d b c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t, test.answer)
				s.mode = test.mode
				asks := s.all(t.Context(), limiter.Acquire)
				if got := inOrder(s.asked, test.asked); got != test.asked {
					t.Errorf("asked %s\nwant  %s", got, test.asked)
				}
				var admitted, taken []string
				for i, who := range []string{"d", "b", "c"} {
					if asks[i].Admitted() {
						admitted = append(admitted, who)
					}
					if asks[i].Taken {
						taken = append(taken, who)
					}
				}
				if a, b := strings.Join(admitted, " "), strings.Join(taken, " "); a != test.admits || b != test.taken {
					t.Errorf("admitted by %q and taken by %q, want %q and %q", a, b, test.admits, test.taken)
				}
			})
		})
	}
}

// Renewals are each by themselves, and nothing is held for them.
func TestDoAllRenewsEachByItself(t *testing.T) {
	t.Parallel()
	s := newScript(t, map[string][]string{"b renew": {"deny"}})
	asks := s.all(t.Context(), limiter.Renew)
	if len(s.asked) != 3 || asks[1].Admitted() || !asks[0].Admitted() || !asks[2].Admitted() {
		t.Errorf("asked %v: %+v", s.asked, asks)
	}
}

// A share of slots can be released, and renewed, when it has become none.
func TestSharesOfSlots(t *testing.T) {
	t.Parallel()
	slots := limiter.Limit{Name: "slots", Algorithm: limiter.Concurrency, Count: 5, Period: time.Minute}
	f := newFixture(t, nil, "a", "b")
	ask := func(op limiter.Op, id uint64) limiter.Result {
		call, results := take(limiter.Subject{Hi: 1}, slots)
		call.Op, call.Lease.Lo, call.TTL = op, id, time.Minute
		if err := f.share.Do(call, results); err != nil {
			t.Fatal(err)
		}
		return results[0]
	}
	for id, admitted := range []bool{true, true, false} {
		if r := ask(limiter.Acquire, uint64(id+1)); r.Allowed != admitted || r.Limit != 5 || r.Source != limiter.SourceShare {
			t.Errorf("lease %d: %+v", id+1, r)
		}
	}
	f.view = testView(t, nil, "a", "b", "c", "d", "e", "f")
	if r := ask(limiter.Acquire, 4); r.Allowed || r.RetryAfter <= 0 {
		t.Errorf("a sixth of five slots: %+v", r)
	}
	if r := ask(limiter.Renew, 1); !r.Allowed {
		t.Errorf("renewed: %+v", r)
	}
	ask(limiter.Release, 1)
	ask(limiter.Release, 2)
	f.view = testView(t, nil, "a", "b")
	if r := ask(limiter.Renew, 2); r.Allowed || r.Remaining != 2 {
		t.Errorf("after the releases: %+v", r)
	}
}
