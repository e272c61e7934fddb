package limitertest

import (
	"math/big"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// cooldown is one that a limit began. It is never forgotten: it is over once
// a call of its duration, or of the longest that it ever had before, finds it
// to be.
type cooldown struct {
	began   int64 // Instant.Mono
	longest time.Duration
}

// cooldownLeft is how many ns c cools down for.
func (o *Oracle) cooldownLeft(call *limiter.Call, c *limiter.Charge) *big.Int {
	cool, began := o.cooldowns[idOf(call, c)]
	left := since(o.now.Mono, cool.began, big.NewInt(int64(min(c.Cooldown, cool.longest))))
	if !began || left.Sign() <= 0 {
		return new(big.Int)
	}
	cool.longest = max(cool.longest, c.Cooldown)
	o.cooldowns[idOf(call, c)] = cool
	return since(o.now.Mono, cool.began, big.NewInt(int64(c.Cooldown)))
}

// coolDown begins what the denial of call begins, and answers again.
func (o *Oracle) coolDown(call *limiter.Call, results []limiter.Result) {
	if call.Patient {
		return
	}
	lasts := false
	for i := range call.Charges {
		lasts = lasts || o.cooldownLeft(call, &call.Charges[i]).Sign() > 0
	}
	for i := range call.Charges {
		c, r := &call.Charges[i], &results[i]
		own := !r.Allowed && !r.Contended && r.RetryAfter != limiter.Never
		if !own || c.Cost == 0 || c.Cooldown == 0 || lasts && !c.Extend {
			continue
		}
		o.cooldowns[idOf(call, c)] = cooldown{o.now.Mono, c.Cooldown}
		*r = o.ask(call, c)
	}
}
