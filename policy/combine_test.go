package policy

import (
	"reflect"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func TestCombine(t *testing.T) {
	t.Parallel()
	decision := func(name string, remaining int64, change func(*Decision)) Decision {
		d := Decision{Policy: name, Cost: 1, Result: limiter.Result{Allowed: true, Remaining: remaining}}
		if change != nil {
			change(&d)
		}
		d.Limits = []LimitResult{{Name: name, Result: d.Result}}
		return d
	}
	denied := func(wait time.Duration) func(*Decision) {
		return func(d *Decision) { d.Allowed, d.RetryAfter = false, wait }
	}
	failed := func(d *Decision) {
		d.Allowed, d.RetryAfter, d.Source, d.OnUnreachable = false, time.Second, limiter.SourceFailClosed, Deny
	}
	tests := []struct {
		why       string
		decisions []Decision
		policy    string
		allowed   bool
		source    limiter.Source
		delay     time.Duration
		mode      Unreachable
	}{
		{"one", []Decision{decision("a", 3, nil)}, "a", true, limiter.SourceOwner, 0, Local},
		{"the fewest remaining", []Decision{decision("a", 3, nil), decision("b", 1, nil), decision("c", 2, nil)}, "b", true, limiter.SourceOwner, 0, Local},
		{"a denial before an admission", []Decision{decision("a", 0, nil), decision("b", 5, denied(time.Second))}, "b", false, limiter.SourceOwner, 0, Local},
		{"the longest wait", []Decision{decision("a", 0, denied(time.Minute)), decision("b", 0, denied(time.Second))}, "a", false, limiter.SourceOwner, 0, Local},
		{"never is the longest", []Decision{decision("a", 0, denied(time.Minute)), decision("b", 0, denied(limiter.Never))}, "b", false, limiter.SourceOwner, 0, Local},
		{"the slowest turn", []Decision{decision("a", 0, nil), decision("b", 5, func(d *Decision) { d.Delay = time.Second })}, "a", true, limiter.SourceOwner, time.Second, Local},
		{"the weakest source", []Decision{decision("a", 5, func(d *Decision) { d.Source = limiter.SourceShare }), decision("b", 0, nil)}, "b", true, limiter.SourceShare, 0, Local},
		{"a counted denial that outlasts a failed one", []Decision{decision("a", 0, denied(time.Minute)), decision("b", 0, failed)}, "a", false, limiter.SourceOwner, 0, Local},
		{"a failed one that is alone", []Decision{decision("a", 4, nil), decision("b", 0, failed)}, "b", false, limiter.SourceFailClosed, 0, Deny},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			d := Combine(tt.decisions[0], tt.decisions[1:]...)
			if d.Policy != tt.policy || d.Allowed != tt.allowed || d.Source != tt.source || d.Delay != tt.delay || d.OnUnreachable != tt.mode {
				t.Errorf("got %+v, want %+v", d, tt)
			}
			var limits []LimitResult
			for _, one := range tt.decisions {
				limits = append(limits, one.Limits...)
			}
			if !reflect.DeepEqual(d.Limits, limits) {
				t.Errorf("limits %+v, want %+v", d.Limits, limits)
			}
		})
	}
}

func TestCombineLeavesItsArguments(t *testing.T) {
	t.Parallel()
	room := make([]LimitResult, 1, 4)
	first := Decision{Limits: room}
	Combine(first, Decision{Limits: []LimitResult{{Name: "other"}}})
	if got := room[:2][1].Name; got != "" {
		t.Errorf("the first decision's memory holds %q", got)
	}
}
