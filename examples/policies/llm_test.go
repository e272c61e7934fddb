package presets

import (
	"net/http"
	"testing"
	"time"
)

var message = object{"method": "POST", "path": "/v1/messages", "organization": "org-1", "model_class": "sonnet", "input_tokens": 1000}

// Requests and input tokens are charged together or not at all, by the tier's
// figures.
func TestAnthropicRequestsAndInput(t *testing.T) {
	for _, row := range []struct {
		tier            string
		requests, input int64
	}{{"start", 1000, 500_000}, {"scale", 4000, 4_000_000}} {
		t.Run(row.tier, func(t *testing.T) {
			play(t, "anthropic.yaml", 3, func(t *testing.T, p *player) {
				small := message.with("tier", row.tier).with("input_tokens", 1)
				large := small.with("input_tokens", row.input/2)
				p.admitted("half of the input", p.check(large))
				p.admitted("the other half, but for a token", p.check(small.with("input_tokens", row.input/2-1)))
				p.denied("too much input", p.check(large), "anthropic-input", http.StatusTooManyRequests)
				p.admitted("the last token", p.check(small))
				p.admitted("another class of models", p.check(small.with("model_class", "haiku")))
				p.passesAfter(time.Minute/time.Duration(row.input), "one token refilled", func() answer { return p.check(small) })

				time.Sleep(time.Minute)
				if got := p.admits(int(row.requests)+10, small); got != int(row.requests) {
					t.Errorf("%d requests pass at once", got)
				}
				p.denied("too many requests", p.check(small), "anthropic-requests", http.StatusTooManyRequests)
			})
		})
	}
}

// Output that was produced beyond the limit is owed: the next request waits
// exactly until it has drained.
func TestAnthropicOutputDebt(t *testing.T) {
	play(t, "anthropic.yaml", 3, func(t *testing.T, p *player) {
		first, second := p.look("anthropic-output", message), p.look("anthropic-output", message)
		p.admitted("first", first)
		p.admitted("second, at the same time", second)
		p.admitted("its requests and input", p.check(message))
		p.settle(first.Receipt, 90_000)
		p.admitted("while a tenth is left", p.look("anthropic-output", message))
		p.settle(second.Receipt, 60_000)
		p.settle(second.Receipt, 60_000) // a second time changes nothing

		const owed = 50_001 // and one to spend
		wait := owed * time.Minute / 100_000
		a := p.look("anthropic-output", message)
		p.denied("in debt", a, "anthropic-output", http.StatusTooManyRequests)
		if a.RetryAfterMS != 30_001 || wait.Milliseconds() != 30_000 || a.retryAfter != "31" {
			t.Errorf("is told to wait %d ms (%s s), want %v", a.RetryAfterMS, a.retryAfter, wait)
		}
		p.admitted("another organization", p.look("anthropic-output", message.with("organization", "org-2")))
		p.passesAfter(wait, "the debt has drained", func() answer { return p.look("anthropic-output", message) })
	})
}

// Requests and tokens each have a minute and a day.
func TestOpenAI(t *testing.T) {
	play(t, "openai.yaml", 1, func(t *testing.T, p *player) {
		call := object{"method": "POST", "path": "/v1/responses", "organization": "org-1", "model": "gpt-4o-mini"}
		if got := p.admits(510, call.with("tokens", 1)); got != 500 {
			t.Errorf("%d requests pass at once", got)
		}
		p.denied("too many requests", p.check(call), "openai-requests", http.StatusTooManyRequests)
		p.admitted("for another model", p.check(call.with("model", "gpt-4o")))

		time.Sleep(time.Minute)
		p.admitted("nearly all tokens", p.check(call.with("tokens", 199_000)))
		big := call.with("tokens", 1001)
		p.denied("too many tokens", p.check(big), "openai-tokens", http.StatusTooManyRequests)
		p.passesAfter(time.Minute/200_000, "one token refilled", func() answer { return p.check(big) })

		spent := 500 + 199_000 + 1001
		for ; ; spent += 200_000 {
			time.Sleep(time.Minute)
			if a := p.check(call.with("tokens", 200_000)); !a.Allowed {
				p.denied("the day's tokens", a, "openai-tokens", http.StatusTooManyRequests)
				if a.RetryAfterMS < time.Minute.Milliseconds() {
					t.Errorf("the minute denies: %+v", a)
				}
				break
			}
		}
		if spent < 1_800_000 || spent > 2_100_000 {
			t.Errorf("%d tokens in a day", spent)
		}

		other := call.with("organization", "org-2")
		requests := 0
		for {
			time.Sleep(time.Second)
			a := p.check(other)
			if !a.Allowed {
				p.denied("the day's requests", a, "openai-requests", http.StatusTooManyRequests)
				break
			}
			for requests++; p.check(other).Allowed; {
				requests++
			}
		}
		if requests < 10_000 || requests > 10_300 {
			t.Errorf("%d requests in a day", requests)
		}
	})
}
