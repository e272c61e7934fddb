package presets

import (
	"net/http"
	"testing"
	"time"
)

const (
	azureRate      = "azure-rate-limit-by-key"
	azureCalls     = "azure-quota-by-key-calls"
	azureBandwidth = "azure-quota-by-key-bandwidth"
)

var subscription = object{"headers": object{"Ocp-Apim-Subscription-Key": "s1"}}

// Who is too fast gets 429, and who has used the quota up 403 until the period
// ends.
func TestAzureCalls(t *testing.T) {
	play(t, "azure-api-management.yaml", 1, func(t *testing.T, p *player) {
		time.Sleep(untilNext(time.Hour) + 10*time.Minute)
		for minute := range 10 {
			if got := p.admits(1001, subscription); got != 1000 {
				t.Fatalf("%d pass in minute %d", got, minute)
			}
			a := p.check(subscription)
			if minute == 9 {
				break
			}
			p.denied("too fast", a, azureRate, http.StatusTooManyRequests)
			if a.retryAfter != "60" {
				t.Errorf("Retry-After is %q", a.retryAfter)
			}
			time.Sleep(time.Minute)
		}
		a := p.check(subscription)
		p.denied("too fast, and no quota left", a, azureCalls, http.StatusForbidden)
		time.Sleep(10 * time.Minute)
		a = p.check(subscription)
		p.denied("no quota left", a, azureCalls, http.StatusForbidden)
		if a.retryAfter != "1860" {
			t.Errorf("Retry-After is %q, want the rest of the hour", a.retryAfter)
		}
		p.admitted("another subscription", p.check(object{"headers": object{"Ocp-Apim-Subscription-Key": "s2"}}))
		p.passesAfter(31*time.Minute, "the next period", func() answer { return p.check(subscription) })
	})
}

// untilNext is how long it is until the clock shows a multiple of d.
func untilNext(d time.Duration) time.Duration {
	return time.Until(time.Now().Truncate(d).Add(d))
}

// Bytes are charged when they are known, and what was sent too much is charged
// too.
func TestAzureBandwidth(t *testing.T) {
	play(t, "azure-api-management.yaml", 1, func(t *testing.T, p *player) {
		time.Sleep(untilNext(time.Hour) + 10*time.Minute)
		for _, bytes := range []int64{25_000_000, 14_999_999, 3_000_000} {
			a := p.look(azureBandwidth, subscription)
			p.admitted("within the quota", a)
			p.admitted("the call", p.check(subscription))
			p.settle(a.Receipt, bytes)
		}
		a := p.look(azureBandwidth, subscription)
		p.denied("beyond it", a, azureBandwidth, http.StatusForbidden)
		if a.retryAfter != "3000" {
			t.Errorf("Retry-After is %q, want the rest of the hour", a.retryAfter)
		}
		p.passesAfter(50*time.Minute, "the next period", func() answer { return p.look(azureBandwidth, subscription) })
	})
}
