package testcluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// checks is what an application may ask of a limiter.
type checks interface {
	Check(ctx context.Context, r policy.Request) (policy.Decision, error)
	CheckAll(ctx context.Context, rs []policy.Request) []policy.Outcome
	Settle(ctx context.Context, receipt string, actual int64) (policy.Decision, error)
	SettleSoon(receipt string, actual int64)
	Reset(ctx context.Context, policyName, key string) (policy.Decision, error)
	Policies() *policy.Set
}

// convenience is the rest of it.
type convenience interface {
	Allow(ctx context.Context, policyName, key string) (policy.Decision, error)
	AllowN(ctx context.Context, policyName, key string, units int64) (policy.Decision, error)
	Peek(ctx context.Context, policyName, key string) (policy.Decision, error)
	Wait(ctx context.Context, policyName, key string) (policy.Decision, error)
	WaitN(ctx context.Context, policyName, key string, units int64) (policy.Decision, error)
	Take(ctx context.Context, key string, limit limiter.Limit) (policy.Decision, error)
}

var (
	_ checks      = (*murmurate.Node)(nil)
	_ checks      = (*testcluster.Limiter)(nil)
	_ convenience = (*murmurate.Node)(nil)
	_ convenience = (*testcluster.Limiter)(nil)
)

func TestAllowing(t *testing.T) {
	t.Parallel()
	l := testcluster.Allowing()
	for range 1000 {
		d, err := l.Allow(t.Context(), "any", "k")
		if err != nil || !d.Allowed || d.Policy != "any" || d.Limit != 100 || d.Remaining != 100 || d.Source != limiter.SourceOwner {
			t.Fatalf("%v, %+v", err, d)
		}
	}
	d, err := l.Reset(t.Context(), "any", "k")
	if err != nil || !d.Allowed || fmt.Sprint(l.Resets()) != fmt.Sprint([]policy.Request{{Policy: "any", Key: "k"}}) {
		t.Errorf("reset: %v, %+v, recorded %v", err, d, l.Resets())
	}
}

func TestSettledDoubles(t *testing.T) {
	t.Parallel()
	l := testcluster.Scripted(testcluster.Answer{Allowed: true}, testcluster.Answer{Allowed: true}, testcluster.Answer{})
	r := policy.Request{Policy: "any", Key: "k", Cost: 5, Receipt: true}
	first, _ := l.Check(t.Context(), r)
	second, _ := l.Check(t.Context(), r)
	if denied, _ := l.Check(t.Context(), r); denied.Receipt != "" || first.Receipt == "" || first.Receipt == second.Receipt {
		t.Errorf("receipts %q, %q and %q", first.Receipt, second.Receipt, denied.Receipt)
	}
	for _, wrong := range []error{
		func() error { _, err := l.Settle(t.Context(), "forged", 1); return err }(),
		func() error { _, err := l.Settle(t.Context(), first.Receipt, -1); return err }(),
	} {
		if !errors.Is(wrong, policy.ErrInput) {
			t.Errorf("%v", wrong)
		}
	}
	l.SettleSoon(second.Receipt, 9)
	for range 2 {
		if d, err := l.Settle(t.Context(), first.Receipt, 3); err != nil || !d.Allowed || d.Cost != 3 {
			t.Errorf("%v, %+v", err, d)
		}
	}
	if got, want := fmt.Sprint(l.Settled()), fmt.Sprint([]testcluster.Settlement{{Request: r, Cost: 9}, {Request: r, Cost: 3}}); got != want {
		t.Errorf("settled %s, want %s", got, want)
	}
}

func TestDenying(t *testing.T) {
	t.Parallel()
	l := testcluster.Denying(3 * time.Second)
	d, err := l.Take(t.Context(), "k", limiter.Limit{Algorithm: limiter.TokenBucket, Count: 7, Period: time.Second})
	if err != nil || d.Allowed || d.RetryAfter != 3*time.Second || d.ResetAfter != 3*time.Second || d.Limit != 7 || d.Remaining != 0 {
		t.Errorf("%v, %+v", err, d)
	}
	if got := fmt.Sprint(d.DeniedBy()); got != "[inline]" {
		t.Errorf("denied by %s", got)
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	l := testcluster.Scripted(
		testcluster.Answer{Allowed: true, Limit: 10, Remaining: 4, ResetAfter: time.Minute},
		testcluster.Answer{Limit: 10, RetryAfter: time.Second},
		testcluster.Answer{Allowed: true, Err: broken},
		testcluster.Answer{Err: broken},
		testcluster.Answer{Allowed: true, Delay: time.Second, Source: limiter.SourceShare},
	)
	ctx := t.Context()
	allow := func() (policy.Decision, error) { return l.Allow(ctx, "api", "k") }
	for i, row := range []struct {
		ask  func() (policy.Decision, error)
		want string // allowed, limit, remaining, retry, reset, delay, source, error
	}{
		{func() (policy.Decision, error) { return l.Peek(ctx, "api", "k") }, "true 10 4 0s 1m0s 0s owner <nil>"},
		{func() (policy.Decision, error) { return l.AllowN(ctx, "api", "k", 0) }, "true 10 4 0s 1m0s 0s owner <nil>"},
		{allow, "true 10 4 0s 1m0s 0s owner <nil>"},
		{func() (policy.Decision, error) { return l.AllowN(ctx, "api", "k", 3) }, "false 10 0 1s 1s 0s owner <nil>"},
		{allow, "true 100 100 0s 0s 0s fail_open broken"},
		{allow, "false 100 0 1s 1s 0s fail_closed broken"},
		{allow, "true 100 100 0s 0s 1s share <nil>"},
	} {
		d, err := row.ask()
		if got := fmt.Sprint(d.Allowed, d.Limit, d.Remaining, d.RetryAfter, d.ResetAfter, d.Delay, d.Source, err); got != row.want {
			t.Errorf("step %d: %s, want %s", i+1, got, row.want)
		}
	}
	for range 2 {
		d, err := allow()
		if !errors.Is(err, testcluster.ErrScriptOver) || d.Allowed || d.Source != limiter.SourceFailClosed || !strings.Contains(err.Error(), `5 answers, and is asked about key "k"`) {
			t.Errorf("behind the end: %v, %+v", err, d)
		}
	}
	calls := l.Calls()
	if len(calls) != 9 || !calls[0].Peek || calls[2].Peek || calls[3].Cost != 3 || calls[3].Policy != "api" || calls[3].Key != "k" {
		t.Errorf("recorded %+v", calls)
	}
}

func TestDoublesRefuseWhatANodeRefuses(t *testing.T) {
	t.Parallel()
	set, err := policy.NewSet(policy.Policy{Name: "api", Limits: []limiter.Limit{
		{Name: "burst", Algorithm: limiter.TokenBucket, Count: 20, Period: time.Second},
		{Name: "day", Algorithm: limiter.FixedWindow, Count: 600, Period: 24 * time.Hour},
	}})
	if err != nil {
		t.Fatal(err)
	}
	l := testcluster.Allowing().WithPolicies(set)
	if l.Policies() != set || testcluster.Allowing().Policies().Names()[0] != policy.DefaultName {
		t.Error("has other policies")
	}
	outcomes := l.CheckAll(t.Context(), []policy.Request{
		{Policy: "api", Key: ""},
		{Policy: "apo", Key: "k"},
		{Key: "k"},
		{Policy: "api", Key: "k", Cost: -1},
		{Policy: "api", Key: "k"},
	})
	for i, o := range outcomes {
		if refused := i < 4; errors.Is(o.Err, policy.ErrInput) != refused || o.Decision.Allowed == refused {
			t.Errorf("request %d: %v, %+v", i, o.Err, o.Decision)
		}
	}
	if limits := outcomes[4].Decision.Limits; len(limits) != 2 || limits[1].Name != "api/day" || limits[1].Limit != 600 {
		t.Errorf("limits %+v", limits)
	}
	if _, err := l.Reset(t.Context(), "apo", "k"); !errors.Is(err, policy.ErrUnknownPolicy) {
		t.Errorf("reset: %v", err)
	}
	for _, r := range []policy.Request{{Policy: "no good", Key: "k"}, {Key: "k"}} {
		if _, err := testcluster.Allowing().Check(t.Context(), r); !errors.Is(err, policy.ErrInput) {
			t.Errorf("policy %q: %v", r.Policy, err)
		}
	}
	if n := len(l.Calls()) + len(l.Resets()); n != 1 {
		t.Errorf("recorded %d requests", n)
	}
}

func TestWaitOfADouble(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, tc := range []struct {
		name    string
		answers []testcluster.Answer
		within  time.Duration
		took    time.Duration
		calls   int
		want    error
	}{
		{"at once", []testcluster.Answer{{Allowed: true}}, time.Minute, 0, 1, nil},
		{"after two denials", []testcluster.Answer{{RetryAfter: time.Second}, {}, {Allowed: true}}, time.Minute, 1001 * time.Millisecond, 3, nil},
		{"its turn", []testcluster.Answer{{Allowed: true, Delay: 5 * time.Second}}, time.Minute, 5 * time.Second, 1, nil},
		{"admitted by the failure mode", []testcluster.Answer{{Allowed: true, Err: broken}}, time.Minute, 0, 1, nil},
		{"too long", []testcluster.Answer{{RetryAfter: time.Hour}}, time.Minute, 0, 1, context.DeadlineExceeded},
		{"an error", []testcluster.Answer{{RetryAfter: time.Second}, {Err: broken}}, time.Minute, time.Second, 2, broken},
		{"the end", nil, time.Minute, 0, 1, testcluster.ErrScriptOver},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := testcluster.Scripted(tc.answers...)
				ctx, cancel := context.WithTimeout(t.Context(), tc.within)
				defer cancel()
				start := time.Now()
				d, err := l.Wait(ctx, "api", "k")
				if took := time.Since(start); !errors.Is(err, tc.want) || d.Allowed != (tc.want == nil) || took != tc.took || len(l.Calls()) != tc.calls {
					t.Errorf("%v, %+v, after %v and %d calls", err, d, took, len(l.Calls()))
				}
			})
		})
	}
}

func TestWaitThatCannotEnd(t *testing.T) {
	t.Parallel()
	if _, err := testcluster.Denying(limiter.Never).WaitN(t.Context(), "api", "k", 5); err == nil {
		t.Error("admitted")
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		start := time.Now()
		_, err := testcluster.Denying(45*time.Second).WaitN(ctx, "api", "k", 0)
		if !errors.Is(err, context.Canceled) || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}
