package presets

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

var shop = object{"method": "GET", "host": "shop.example.com", "path": "/admin/api/2026-07/products.json", "app": "app-1"}

// A bucket of 40 requests leaks two a second; that of Plus ten times as many.
func TestShopifyREST(t *testing.T) {
	for plan, times := range map[string]int{"standard": 1, "plus": 10} {
		t.Run(plan, func(t *testing.T) {
			play(t, "shopify.yaml", 3, func(t *testing.T, p *player) {
				caller := shop.with("plan", plan)
				if got := p.admits(40*times+1, caller); got != 40*times {
					t.Errorf("%d pass at once", got)
				}
				p.denied("one more", p.check(caller), "shopify-rest", http.StatusTooManyRequests)
				p.admitted("at another store", p.check(caller.with("host", "other.example.com")))
				p.admitted("of another app", p.check(caller.with("app", "app-2")))
				p.passesAfter(time.Second/time.Duration(2*times), "one has leaked", func() answer { return p.check(caller) })
			})
		})
	}
}

// A query is charged what it asks for, and given back what it did not use.
func TestShopifyGraphQL(t *testing.T) {
	play(t, "shopify.yaml", 3, func(_ *testing.T, p *player) {
		query := shop.with("path", "/admin/api/2026-07/graphql.json").with("requested_cost", 1000)
		first, second := p.estimate(query), p.estimate(query)
		p.admitted("half of the bucket", first)
		p.admitted("the other half", second)
		p.denied("nothing left", p.estimate(query), "shopify-graphql", http.StatusTooManyRequests)
		p.admitted("REST has a bucket of its own", p.check(shop))

		p.settle(first.Receipt, 46)
		p.admitted("what was given back", p.estimate(query.with("requested_cost", 1000-46)))
		p.denied("and no more", p.estimate(query.with("requested_cost", 1)), "shopify-graphql", http.StatusTooManyRequests)
		p.passesAfter(10*time.Second, "1,000 points at 100 a second", func() answer { return p.estimate(query) })
	})
}

// Twenty requests are in flight, and 100 begin in a second; whoever has no slot
// has not spent any of the rate.
func TestStripe(t *testing.T) {
	play(t, "stripe.yaml", 3, func(t *testing.T, p *player) {
		denied := func(what string, a answer, by string) {
			t.Helper()
			p.denied(what, a, "stripe", http.StatusTooManyRequests)
			if !slices.Equal(a.DeniedBy, []string{by}) {
				t.Errorf("%s: denied by %v, want %s", what, a.DeniedBy, by)
			}
		}
		account := object{"account": "acct_1", "mode": "live"}
		var leases []string
		for range 20 {
			a := p.acquire(account)
			p.admitted("one of twenty", a)
			leases = append(leases, a.Lease)
		}
		for range 200 {
			denied("the 21st", p.acquire(account), "stripe/in-flight")
		}
		p.admitted("of another account", p.acquire(account.with("account", "acct_2")))
		for i := range 80 {
			p.release(leases[i])
			a := p.acquire(account)
			p.admitted("in the slot of one that has ended", a)
			leases = append(leases, a.Lease)
		}
		p.release(leases[80])
		denied("the 101st of a second", p.acquire(account), "stripe/rate")
		p.passesAfter(10*time.Millisecond, "the rate goes on", func() answer { return p.acquire(account) })

		began := 0
		for a := p.acquire(account.with("account", "acct_3").with("mode", "test")); a.Allowed; began++ {
			p.release(a.Lease)
			a = p.acquire(account.with("account", "acct_3").with("mode", "test"))
		}
		if began != 25 {
			t.Errorf("%d begin at once in test mode", began)
		}
	})
}
