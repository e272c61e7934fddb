package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// The sample traffic: half of it comes from a few clients that ask for far
// more than the policy grants, half from many that stay below.
const (
	demoPolicy = "demo"
	demoRate   = 200 // checks per second, over all nodes
	demoPerKey = 10  // per second, what the policy grants each key
	demoBurst  = 20
	demoHeavy  = 3  // keys, each asking for about 33 per second
	demoLight  = 37 // keys, each asking for about 3 per second
)

// demoPolicies are the policy of the sample traffic and the built-in one.
func demoPolicies() (*policy.Set, error) {
	return policy.NewSet(policy.Default(), policy.Policy{
		Name: demoPolicy,
		Limits: []limiter.Limit{
			{Algorithm: limiter.TokenBucket, Count: demoPerKey, Period: time.Second, Burst: demoBurst},
		},
	})
}

// sampleKey picks who asks next.
func sampleKey() string {
	if pick(2) == 0 {
		return fmt.Sprintf("heavy-%d", pick(demoHeavy))
	}
	return fmt.Sprintf("light-%d", pick(demoLight))
}

func pick(n int) int {
	return rand.IntN(n) //nolint:gosec // sample traffic: there is nothing to guess
}

// tally counts the checks that one node answered.
type tally struct {
	Allowed int `json:"allowed"`
	Denied  int `json:"denied"`
}

// sample sends one check to node and counts its answer.
func (t *tally) sample(ctx context.Context, node *murmurate.Node) {
	// With an error the decision is the failure mode's, and counts as well.
	d, _ := node.Check(ctx, policy.Request{Policy: demoPolicy, Key: sampleKey()})
	if d.Allowed {
		t.Allowed++
	} else {
		t.Denied++
	}
}
