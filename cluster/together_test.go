package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

var opNames = map[limiter.Op]string{
	limiter.Take: "take", limiter.Peek: "peek", limiter.Reset: "reset",
	limiter.Hold: "hold", limiter.Confirm: "confirm", limiter.Cancel: "cancel",
	limiter.Acquire: "acquire", limiter.Occupy: "occupy", limiter.Renew: "renew",
}

// script is a cluster whose members b, c and d answer by rule, and the list of
// what they and the failure mode were asked.
type script struct {
	*fixture

	mu    sync.Mutex
	asked []string
	// answer is what a member says to an op: "" admits, "deny", "contended",
	// "full", or "lost" for no answer by the deadline. A second rule is for the
	// second time, and so on.
	answer map[string][]string // by "b hold"
	times  map[string]int
	mode   bool // the failure mode admits
}

func newScript(t *testing.T, answer map[string][]string) *script {
	t.Helper()
	s := &script{answer: answer, times: map[string]int{}}
	peers := map[string]Peer{}
	for _, id := range []string{"b", "c", "d"} {
		peers[id] = &scriptedPeer{s, id}
	}
	s.fixture = newFixture(t, peers, "a", "b", "c", "d")
	return s
}

func (s *script) note(who string, op limiter.Op) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := who + " " + opNames[op]
	s.asked = append(s.asked, what)
	rules := s.answer[what]
	n := s.times[what]
	s.times[what]++
	if len(rules) == 0 {
		return ""
	}
	return rules[min(n, len(rules)-1)]
}

type scriptedPeer struct {
	script *script
	id     string
}

func (p *scriptedPeer) Reachable() bool { return !slices.Contains(p.script.answer[p.id], "down") }
func (p *scriptedPeer) Close()          {}

func (p *scriptedPeer) Do(ctx context.Context, deadline time.Time, call *limiter.Call, results []limiter.Result) error {
	rule := p.script.note(p.id, call.Op)
	switch rule {
	case "full":
		return limiter.ErrFull
	case "lost":
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(deadline)):
			return errors.New("no answer")
		}
	}
	for i := range results {
		results[i] = limiter.Result{Allowed: rule == "", Contended: rule == "contended", Remaining: int64(call.Op), Delay: time.Duration(call.Op)}
	}
	return nil
}

// takes asks b for a capacity of 10, c for 20, and d for 30, in the order d,
// b, c, and returns the asks.
func (s *script) takes(ctx context.Context) []Ask {
	s.t.Helper()
	return s.all(ctx, limiter.Take)
}

// all is takes of another op.
func (s *script) all(ctx context.Context, op limiter.Op) []Ask {
	s.t.Helper()
	var asks []Ask
	for _, who := range []string{"d", "b", "c"} {
		call, results := take(subjectOf(s.t, s.view, who), perHour(map[string]int64{"b": 10, "c": 20, "d": 30}[who]))
		call.Op = op
		asks = append(asks, Ask{Call: call, Results: results})
	}
	s.router.DoAll(ctx, asks, func(i int) {
		s.note("mode", asks[i].Call.Op)
		asks[i].Results[0] = limiter.Result{Allowed: s.mode, Source: limiter.SourceShare}
	})
	for i := range asks {
		if c := asks[i].Call; c.Op != op || c.Hold != (limiter.HoldID{}) || c.Lapse != 0 {
			s.t.Errorf("call %d came back as %+v", i, *c)
		}
	}
	return asks
}

func TestDoAllInSteps(t *testing.T) {
	t.Parallel()
	lost := []string{"lost"}
	tests := []struct {
		name   string
		answer map[string][]string
		mode   bool
		asked  string // by whom, in order; what happens at one time in brackets
		admits string // who admitted, in the caller's order; a capital if the failure mode answered
	}{
		{"admitted", nil, false, "b hold, c hold, d take, [b confirm, c confirm]", "d b c"},
		{"the narrowest denies", map[string][]string{"b hold": {"deny"}}, false, "b hold, [c peek, d peek]", "d c"},
		{"the middle denies", map[string][]string{"c hold": {"deny"}}, false, "b hold, c hold, b cancel, d peek", "d b"},
		{"the widest denies", map[string][]string{"d take": {"deny"}}, false, "b hold, c hold, d take, [b cancel, c cancel]", "b c"},
		{"contended once", map[string][]string{"c hold": {"contended", ""}}, false,
			"b hold, c hold, c hold, d take, [b confirm, c confirm]", "d b c"},
		{"contended twice", map[string][]string{"c hold": {"contended"}}, false, "b hold, c hold, c hold, b cancel, d peek", "d b"},
		{"contended at the last", map[string][]string{"d take": {"contended", ""}}, false,
			"b hold, c hold, d take, d take, [b confirm, c confirm]", "d b c"},
		{"out of reach, denied", map[string][]string{"c": {"down"}}, false, "b hold, mode hold, b cancel, d peek", "d b"},
		{"out of reach, admitted", map[string][]string{"c": {"down"}}, true, "b hold, mode hold, d take, mode confirm, b confirm", "d b C"},
		{"out of reach, admitted, then denied", map[string][]string{"b": {"down"}, "d take": {"deny"}}, true,
			"mode hold, c hold, d take, mode cancel, c cancel", "B c"},
		{"the last out of reach", map[string][]string{"d": {"down"}}, true, "b hold, c hold, mode take, [b confirm, c confirm]", "D b c"},
		{"not looked at", map[string][]string{"b hold": {"deny"}, "d": {"down"}}, true, "b hold, c peek, mode peek", "D c"},
		{"full", map[string][]string{"b hold": {"full"}}, false, "b hold, mode hold, [c peek, d peek]", "d c"},
		{"hold lost", map[string][]string{"b hold": lost}, false, "b hold, mode hold, [c peek, d peek]", "d c"},
		{"confirm lost, admitted", map[string][]string{"b confirm": lost}, true,
			"b hold, c hold, d take, [b confirm, c confirm], mode take", "d B c"},
		{"confirm lost, denied", map[string][]string{"b confirm": lost}, false,
			"b hold, c hold, d take, [b confirm, c confirm], mode take", "d c"},
		{"cancel lost", map[string][]string{"d take": {"deny"}, "b cancel": lost}, false,
			"b hold, c hold, d take, [b cancel, c cancel]", "b c"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t, test.answer)
				s.mode = test.mode
				began := time.Now()
				asks := s.takes(t.Context())
				if took := time.Since(began); took > s.router.deadline {
					t.Errorf("it took %v", took)
				}
				if got := inOrder(s.asked, test.asked); got != test.asked {
					t.Errorf("asked %s\nwant  %s", got, test.asked)
				}
				var admitted []string
				for i, who := range []string{"d", "b", "c"} {
					if asks[i].Err != nil {
						who = strings.ToUpper(who)
					}
					if asks[i].Admitted() {
						admitted = append(admitted, who)
					}
				}
				if got := strings.Join(admitted, " "); got != test.admits {
					t.Errorf("admitted by %q, want %q", got, test.admits)
				}
			})
		})
	}
}

// inOrder is the list of what was asked, with the two steps that want puts in
// brackets, and may come in either order, in brackets and sorted.
func inOrder(asked []string, want string) string {
	asked = slices.Clone(asked)
	if open := strings.Index(want, "["); open >= 0 {
		from := strings.Count(want[:open], ", ")
		to := min(from+2, len(asked))
		if from < to {
			slices.Sort(asked[from:to])
			asked[from] = "[" + asked[from]
			asked[to-1] += "]"
		}
	}
	return strings.Join(asked, ", ")
}

// A denied request shows each limit as it is once everything is given back;
// an admitted one as the confirmations left it, with the delays of the holds.
func TestDoAllReportsEveryNumber(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		answer    map[string][]string
		remaining []limiter.Op // the scripted members tell their op
		delays    []limiter.Op
	}{
		{nil, []limiter.Op{limiter.Take, limiter.Confirm, limiter.Confirm}, []limiter.Op{limiter.Take, limiter.Hold, limiter.Hold}},
		{map[string][]string{"c hold": {"deny"}}, []limiter.Op{limiter.Peek, limiter.Cancel, limiter.Hold}, []limiter.Op{limiter.Peek, 0, limiter.Hold}},
	} {
		asks := newScript(t, row.answer).takes(t.Context())
		for i := range asks {
			r := asks[i].Results[0]
			if r.Remaining != int64(row.remaining[i]) || r.Delay != time.Duration(row.delays[i]) {
				t.Errorf("%v, ask %d: %+v", row.answer, i, r)
			}
		}
	}
}

// A caller that leaves charges nothing: what was held is given back.
func TestDoAllWhenTheCallerLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, map[string][]string{"c hold": {"lost"}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		time.AfterFunc(time.Millisecond, cancel)
		asks := s.takes(ctx)
		if !errors.Is(asks[2].Err, context.Canceled) || !slices.Contains(s.asked, "b cancel") || slices.Contains(s.asked, "d take") {
			t.Errorf("%v, asked %v", asks[2].Err, s.asked)
		}
	})
}

// The context's deadline counts where it is the shorter one, and leaves time
// to confirm.
func TestDoAllKeepsTimeToConfirm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, map[string][]string{"c hold": {"lost"}})
		s.mode = true
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		began := time.Now()
		asks := s.takes(ctx)
		if took := time.Since(began); took != 15*time.Millisecond || !slices.Contains(s.asked, "b confirm") {
			t.Errorf("it took %v, want three quarters of 20 ms; asked %v, %+v", took, s.asked, asks)
		}
	})
}

// What is no take needs no holds, and one take needs none either.
func TestDoAllWithoutHolds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		op    limiter.Op
		asks  int
		asked []string
	}{
		{limiter.Peek, 2, []string{"b peek", "c peek"}},
		{limiter.Reset, 2, []string{"b reset", "c reset"}},
		{limiter.Take, 1, []string{"b take"}},
		{limiter.Take, 0, nil},
	} {
		s := newScript(t, nil)
		var asks []Ask
		for _, who := range []string{"b", "c"}[:row.asks] {
			call, results := take(subjectOf(t, s.view, who), perHour(10))
			call.Op = row.op
			asks = append(asks, Ask{Call: call, Results: results})
		}
		s.router.DoAll(t.Context(), asks, nil)
		slices.Sort(s.asked)
		if fmt.Sprint(s.asked) != fmt.Sprint(row.asked) {
			t.Errorf("op %d: asked %v", row.op, s.asked)
		}
	}
}

// What is in shadow is charged with the others, and never stands in their way.
func TestDoAllInShadow(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		answer map[string][]string
		shadow string // who is
		asked  string // sorted
	}{
		{nil, "b", "b take, c hold, c confirm, d take"},
		{map[string][]string{"b take": {"deny"}}, "b", "b take, c hold, c confirm, d take"},
		{map[string][]string{"c hold": {"deny"}}, "b", "b peek, c hold, d peek"},
		{nil, "bc", "b take, c take, d take"},
		{nil, "bcd", "b take, c take, d take"},
	} {
		s := newScript(t, row.answer)
		var asks []Ask
		for _, who := range []string{"b", "c", "d"} {
			call, results := take(subjectOf(t, s.view, who), perHour(int64(who[0])))
			asks = append(asks, Ask{Call: call, Results: results, Shadow: strings.Contains(row.shadow, who)})
		}
		s.router.DoAll(t.Context(), asks, nil)
		slices.SortStableFunc(s.asked, func(a, b string) int { return strings.Compare(a[:1], b[:1]) })
		if got := strings.Join(s.asked, ", "); got != row.asked {
			t.Errorf("%v with %s in shadow: asked %s, want %s", row.answer, row.shadow, got, row.asked)
		}
	}
}

// Holds that the share makes are its own: they are confirmed or cancelled
// there.
func TestShareHolds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		answer map[string][]string
		left   int64
	}{
		{map[string][]string{"b": {"down"}}, 1},                     // of a quarter of 10, rounded down
		{map[string][]string{"b": {"down"}, "d take": {"deny"}}, 2}, // given back
	} {
		s := newScript(t, row.answer)
		b, bResults := take(subjectOf(t, s.view, "b"), perHour(10))
		d, dResults := take(subjectOf(t, s.view, "d"), perHour(30))
		asks := []Ask{{Call: b, Results: bResults}, {Call: d, Results: dResults}}
		s.router.DoAll(t.Context(), asks, func(i int) {
			if err := s.share.Do(asks[i].Call, asks[i].Results); err != nil {
				t.Error(err)
			}
		})
		b.Op = limiter.Peek
		if err := s.share.Do(b, bResults); err != nil || bResults[0].Remaining != row.left {
			t.Errorf("%v: %+v, %v", row.answer, bResults[0], err)
		}
	}
}
