package httpapi

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// decisionJSON is the decision as the contract has it.
type decisionJSON struct {
	Allowed      bool        `json:"allowed"`
	Policy       string      `json:"policy"`
	Limit        int64       `json:"limit"`
	Remaining    int64       `json:"remaining"`
	Cost         int64       `json:"cost"`
	RetryAfterMS int64       `json:"retry_after_ms"`
	ResetAfterMS int64       `json:"reset_after_ms"`
	DelayMS      int64       `json:"delay_ms"`
	Source       string      `json:"source"`
	Shadow       bool        `json:"shadow"`
	DeniedBy     []string    `json:"denied_by"`
	Limits       []limitJSON `json:"limits"`
}

type limitJSON struct {
	Name         string `json:"name"`
	Limit        int64  `json:"limit"`
	Remaining    int64  `json:"remaining"`
	Allowed      bool   `json:"allowed"`
	RetryAfterMS int64  `json:"retry_after_ms"`
	ResetAfterMS int64  `json:"reset_after_ms"`
	NextUnitMS   int64  `json:"next_unit_ms"`
	WindowMS     int64  `json:"window_ms"`
	Unit         string `json:"unit"`
}

func ms(d time.Duration) int64 {
	if d == limiter.Never {
		return -1
	}
	return int64(math.Ceil(float64(d) / 1e6)) // exact below 2^53 ns, which the test stays under
}

func expected(d *policy.Decision) decisionJSON {
	e := decisionJSON{
		Allowed: d.Allowed, Policy: d.Policy, Limit: d.Limit, Remaining: d.Remaining, Cost: d.Cost,
		RetryAfterMS: ms(d.RetryAfter), ResetAfterMS: ms(d.ResetAfter), DelayMS: ms(d.Delay),
		Source: d.Source.String(), Shadow: d.Shadow, DeniedBy: []string{}, Limits: []limitJSON{},
	}
	e.DeniedBy = append(e.DeniedBy, d.DeniedBy()...)
	for _, l := range d.Limits {
		e.Limits = append(e.Limits, limitJSON{l.Name, l.Limit, l.Remaining, l.Allowed, ms(l.RetryAfter), ms(l.ResetAfter), ms(l.NextUnit), ms(l.Window), "requests"})
	}
	return e
}

func TestAppendDecisionIsTheJSONOfTheContract(t *testing.T) {
	t.Parallel()
	duration := rapid.OneOf(rapid.Just(limiter.Never), rapid.Map(rapid.Int64Range(0, 1<<53), func(n int64) time.Duration { return time.Duration(n) }))
	result := rapid.Custom(func(t *rapid.T) limiter.Result {
		return limiter.Result{
			Allowed: rapid.Bool().Draw(t, "allowed"), Source: rapid.SampledFrom(limiter.Sources()).Draw(t, "source"),
			Limit: rapid.Int64().Draw(t, "limit"), Remaining: rapid.Int64().Draw(t, "remaining"),
			RetryAfter: duration.Draw(t, "retry"), NextUnit: duration.Draw(t, "next"),
			ResetAfter: duration.Draw(t, "reset"), Delay: duration.Draw(t, "delay"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		d := policy.Decision{
			Result: result.Draw(t, "top"), Policy: rapid.String().Draw(t, "policy"),
			Cost: rapid.Int64().Draw(t, "cost"), Shadow: rapid.Bool().Draw(t, "shadow"),
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "limits") {
			d.Limits = append(d.Limits, policy.LimitResult{
				Result: result.Draw(t, "result"), Name: rapid.String().Draw(t, "name") + strconv.Itoa(i), Window: duration.Draw(t, "window"),
			})
		}
		text := appendDecision([]byte("before"), &d)[len("before"):]
		var got decisionJSON
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if want := expected(&d); !reflect.DeepEqual(got, want) {
			t.Fatalf("got\n%+v\nwant\n%+v", got, want)
		}
		plain, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if string(plain) != string(text) {
			t.Fatalf("order or form differ:\n%s\n%s", text, plain)
		}
	})
}

func TestMillisecondsRoundUp(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0", 1: "1", time.Millisecond: "1", time.Millisecond + 1: "2", limiter.Never: "-1", math.MaxInt64: "9223372036855",
	} {
		if got := string(appendMillis(nil, "", d)); got != want {
			t.Errorf("%d ns is %s ms, want %s", d, got, want)
		}
	}
}

func TestAppendDecisionAllocatesNothing(t *testing.T) {
	node := newFake(t, api())
	d, err := node.Check(t.Context(), policy.Request{Policy: "api", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { buf = appendDecision(buf[:0], &d) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
