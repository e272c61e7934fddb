package presets

import (
	"net/http"
	"testing"
	"time"
)

// An account has 5,000 requests at once, and then 10,000 a second.
func TestAWSAccount(t *testing.T) {
	play(t, "aws-api-gateway.yaml", 3, func(t *testing.T, p *player) {
		eu := object{"account": "111122223333", "region": "eu-west-1"}
		if got := p.admits(5100, eu); got != 5000 {
			t.Errorf("%d pass at once", got)
		}
		p.denied("one more", p.check(eu), "aws-account", http.StatusTooManyRequests)
		p.admitted("in another region", p.check(eu.with("region", "sa-east-1")))
		time.Sleep(100 * time.Microsecond)
		if got := p.admits(2, eu); got != 1 {
			t.Errorf("%d pass after the ten-thousandth part of a second", got)
		}
		passed := 0
		for range 10 {
			time.Sleep(100 * time.Millisecond)
			passed += p.admits(1100, eu)
		}
		if passed != 10_000 {
			t.Errorf("%d pass in a second", passed)
		}
	})
}

// A plan's quota lasts until its day, week or month ends, and is denied with
// 429 like its rate.
func TestAWSUsagePlan(t *testing.T) {
	const day = 24 * time.Hour
	for _, row := range []struct {
		plan  any
		quota int64
		ends  time.Duration // after the beginning of 2000, a Saturday
	}{
		{nil, 10_000, day},
		{"weekly", 50_000, 2 * day},
		{"monthly", 200_000, 31 * day},
	} {
		play := func(t *testing.T) {
			play(t, "aws-api-gateway.yaml", 1, func(t *testing.T, p *player) {
				began := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
				caller := object{"headers": object{"X-Api-Key": "k1"}, "plan": row.plan}
				if got := p.admits(210, caller.with("account", "throttled")); got != 200 {
					t.Errorf("%d pass at once, want the burst", got)
				}
				spend := func(units int64) answer {
					time.Sleep(2 * time.Second) // for the burst
					return p.post("/v1/check", object{"attributes": caller, "cost": units})
				}
				for spent := int64(200); spent < row.quota; spent += 200 {
					p.admitted("within the quota", spend(200))
				}
				p.denied("beyond it", spend(1), "aws-usage-plan", http.StatusTooManyRequests)
				p.passesAfter(row.ends-time.Since(began), "the next period", func() answer { return p.check(caller) })
			})
		}
		name := "daily"
		if row.plan != nil {
			name = row.plan.(string)
		}
		t.Run(name, play)
	}
}
