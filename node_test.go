package murmurate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/internal/leak"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

func TestMain(m *testing.M) { leak.Main(m) }

// patience bounds every wait for something that must happen in the end.
const patience = 30 * time.Second

func policies(t testing.TB, list ...policy.Policy) *policy.Set {
	t.Helper()
	set, err := policy.NewSet(list...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func start(t testing.TB, o murmurate.Options) *murmurate.Node {
	t.Helper()
	node, err := murmurate.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := node.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return node
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

func TestAloneNodeLimits(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true})
	for i := range 101 {
		d, err := node.Check(t.Context(), policy.Request{Policy: "default", Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		if d.Allowed != (i < 100) || d.Limit != 100 {
			t.Fatalf("call %d: %+v", i+1, d)
		}
	}
	if node.Keys() != 1 {
		t.Errorf("%d keys", node.Keys())
	}
}

func TestResetAndPeek(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true})
	ask := func(r policy.Request) policy.Decision {
		d, err := node.Check(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	ask(policy.Request{Policy: "default", Key: "k", Cost: 60})
	for range 2 {
		if d := ask(policy.Request{Policy: "default", Key: "k", Cost: 41, Peek: true}); d.Allowed || d.Remaining != 40 {
			t.Errorf("a peek at 41 of 40: %+v", d)
		}
	}
	d, err := node.Reset(t.Context(), "default", "k")
	if err != nil || d.Remaining != 100 {
		t.Errorf("reset: %v, %+v", err, d)
	}
}

func TestWrongRequestsChargeNothing(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true})
	limit := func(l limiter.Limit) *limiter.Limit { return &l }
	for name, row := range map[string]struct {
		r       policy.Request
		field   string
		unknown bool
	}{
		"no key":         {policy.Request{Policy: "default"}, "key", false},
		"long key":       {policy.Request{Policy: "default", Key: strings.Repeat("k", 1025)}, "key", false},
		"invalid key":    {policy.Request{Policy: "default", Key: "\xff"}, "key", false},
		"negative cost":  {policy.Request{Policy: "default", Key: "k", Cost: -1}, "cost", false},
		"unknown policy": {policy.Request{Policy: "defaul", Key: "k"}, "policy", true},
		"no policy":      {policy.Request{Key: "k"}, "policy", false},
		"both":           {policy.Request{Policy: "default", Key: "k", Limit: limit(limiter.Limit{})}, "policy", false},
		"bad limit":      {policy.Request{Key: "k", Limit: limit(limiter.Limit{Algorithm: limiter.TokenBucket, Count: 1})}, "limit.period", false},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := node.Check(t.Context(), row.r)
			input, ok := errors.AsType[*policy.InputError](err)
			if !ok || input.Field != row.field || !errors.Is(err, policy.ErrInput) || errors.Is(err, policy.ErrUnknownPolicy) != row.unknown {
				t.Errorf("error %v", err)
			}
			if d.Allowed || d.Limits != nil {
				t.Errorf("decided %+v", d)
			}
		})
	}
	if node.Keys() != 0 {
		t.Errorf("%d keys were charged", node.Keys())
	}
}

func TestShadowNeverDenies(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	node := start(t, murmurate.Options{Alone: true, Observer: seen, Policies: policies(t, policy.Policy{
		Name: "watch", Shadow: true,
		Limits: []limiter.Limit{{Algorithm: limiter.TokenBucket, Count: 2, Period: time.Hour}},
	})})
	for range 5 {
		d, err := node.Check(t.Context(), policy.Request{Policy: "watch", Key: "k"})
		if err != nil || !d.Allowed || !d.Shadow {
			t.Errorf("%v, %+v", err, d)
		}
	}
	if got := seen.String(); got != "watch allowed owner 2, watch over watch 3, watch shadow_denied owner 3" {
		t.Errorf("observed %s", got)
	}
}

func TestFullTableRefusesNewKeys(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true, MaxKeys: 1000})
	refused := 0
	for i := range 5000 {
		d, err := node.Check(t.Context(), policy.Request{Policy: "default", Key: fmt.Sprint(i)})
		if errors.Is(err, limiter.ErrFull) {
			refused++
			if d.Allowed || d.Source != limiter.SourceFailClosed || d.RetryAfter <= 0 {
				t.Fatalf("refused with %+v", d)
			}
		}
	}
	if refused < 4000 || node.Keys() > 1000 {
		t.Errorf("%d refused, %d keys at a bound of 1000", refused, node.Keys())
	}
	if d, err := node.Check(t.Context(), policy.Request{Policy: "default", Key: "0"}); err != nil || d.Remaining != 98 {
		t.Errorf("a key that has its place: %v, %+v", err, d)
	}
}

func TestOptionsNameEveryFault(t *testing.T) {
	t.Parallel()
	_, err := murmurate.Start(t.Context(), murmurate.Options{
		Gossip: "0.0.0.0:0", Peer: "localhost:1", Deadline: -1, MaxKeys: -1, Role: "client",
		TLS: murmurate.TLSFiles{Cert: "c"},
	})
	if err == nil {
		t.Fatal("it started")
	}
	for _, name := range []string{"Gossip:", "Peer:", "Deadline:", "MaxKeys:", "Join:", "TLS:"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is missing in:\n%v", name, err)
		}
	}
}

func TestPortInUseSaysWhatToChange(t *testing.T) {
	t.Parallel()
	first := start(t, murmurate.Options{Name: "first", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0"})
	for flag, o := range map[string]murmurate.Options{
		"--peer":   {Name: "second", Gossip: "127.0.0.1:0", Peer: first.PeerAddr().String()},
		"--gossip": {Name: "second", Gossip: first.GossipAddr().String(), Peer: "127.0.0.1:0"},
	} {
		_, err := murmurate.Start(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), flag) || !strings.Contains(err.Error(), "127.0.0.1:") {
			t.Errorf("%s: error %v", flag, err)
		}
	}
}

// Many lives leave nothing behind. Goroutines are goleak's to find; this
// looks at the heap.
func TestStartAndCloseLeaveNothing(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	once := func() {
		node, err := murmurate.Start(t.Context(), murmurate.Options{Name: "again", Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // closing twice is closing once
			if err := node.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	once()
	before := heap()
	for range 100 {
		once()
	}
	if after := heap(); after > before+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

// scenario 24: an owner out of reach is in the log, once and without a key,
// and in the metrics.
func TestLogNamesTheOutageOnceAndNoKey(t *testing.T) {
	t.Parallel()
	var log lockedBuilder
	node := start(t, murmurate.Options{Alone: true, MaxKeys: 10, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for i := range 2000 {
		_, _ = node.Check(t.Context(), policy.Request{Policy: "default", Key: fmt.Sprint("secret-person-", i)})
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, log.String())
	}
	if strings.Contains(log.String(), "secret-person") {
		t.Error("a key is in the log")
	}
}

// Who is denied is in the log: one of many, by the fingerprint that an
// operator can look up, and never by the key.
func TestLogNamesWhoIsDenied(t *testing.T) {
	t.Parallel()
	var log lockedBuilder
	limit := []limiter.Limit{{Name: "few", Algorithm: limiter.FixedWindow, Count: 1, Period: time.Hour}}
	node := start(t, murmurate.Options{Alone: true, Logger: slog.New(slog.NewTextHandler(&log, nil)), Policies: policies(t,
		policy.Policy{Name: "earnest", Limits: limit}, policy.Policy{Name: "tried", Limits: limit, Shadow: true})})
	for _, name := range []string{"earnest", "tried"} {
		for range 10 {
			if _, err := node.Allow(t.Context(), name, "secret-person"); err != nil {
				t.Fatal(err)
			}
		}
		fingerprint, err := node.Fingerprint(name, "secret-person")
		if err != nil {
			t.Fatal(err)
		}
		if want := "policy=" + name + " limit=few key=" + fingerprint + " more_since_last_line=0"; strings.Count(log.String(), want) != 1 {
			t.Errorf("not once: %s in\n%s", want, log.String())
		}
	}
	if n := strings.Count(log.String(), "in shadow"); n != 1 || strings.Contains(log.String(), "secret-person") {
		t.Errorf("%d lines about shadow in\n%s", n, log.String())
	}
}

// Looks and resets decide about nobody.
func TestOnlyTakesAreObserved(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	node := start(t, murmurate.Options{Alone: true, Observer: seen, MaxKeys: 1, Policies: policies(t,
		policy.Policy{Name: "p", Limits: []limiter.Limit{{Algorithm: limiter.TokenBucket, Count: 1, Period: time.Hour}}},
		policy.Policy{Name: "watch", Shadow: true, Limits: []limiter.Limit{{Algorithm: limiter.TokenBucket, Count: 1, Period: time.Hour}}},
	)})
	for _, r := range []policy.Request{
		{Policy: "p", Key: "k"}, {Policy: "p", Key: "k"}, {Policy: "p", Key: "k", Peek: true},
		{Policy: "p", Key: "no room"}, {Policy: "watch", Key: "no room"},
	} {
		_, _ = node.Check(t.Context(), r)
	}
	if _, err := node.Reset(t.Context(), "p", "k"); err != nil {
		t.Error(err)
	}
	const want = "p allowed owner 1, p denied owner 1, p error fail_closed 1, p over p 1, watch shadow_denied fail_closed 1"
	if got := seen.String(); got != want {
		t.Errorf("observed %s, want %s", got, want)
	}
}
