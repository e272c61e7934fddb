package presets

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/config"
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

// What was settled is on disk: a quota does not start afresh with its node.
func TestAzureQuotasOutliveTheNode(t *testing.T) {
	t.Parallel()
	set := read(t, "azure-api-management.yaml", func(*config.Config) {})
	options := murmurate.Options{Alone: true, DataDir: t.TempDir(), Policies: set}
	synctest.Test(t, func(t *testing.T) {
		run := func(steps func(p *player)) {
			node, err := murmurate.Start(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			steps(newPlayer(t, node))
			if err := node.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		run(func(p *player) {
			a := p.look(azureBandwidth, subscription)
			p.admitted("at first", a)
			p.settle(a.Receipt, 45_000_000)
			p.admitted("all calls of the hour", p.post("/v1/check", object{"policy": azureCalls, "attributes": subscription, "cost": 10_000}))
		})
		run(func(p *player) {
			p.denied("bytes", p.look(azureBandwidth, subscription), azureBandwidth, http.StatusForbidden)
			p.denied("calls", p.check(subscription), azureCalls, http.StatusForbidden)
		})
	})
}
