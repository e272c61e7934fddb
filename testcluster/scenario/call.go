package scenario

import (
	"context"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// call is one check, peek or reset that a scenario makes.
type call struct {
	op      limiter.Op
	request policy.Request
	policy  *policy.Policy
	via     *member
	// begun and ended are instants of the virtual clock. The owner, if it
	// decided, did so at some instant from begun to ended.
	begun, ended time.Time
	// era is the number of the era that the call fell into as a whole, and 0
	// if there is none.
	era int
	// healthy says that the cluster was so from begun to ended.
	healthy bool
	// void says that the node that was asked was taken away meanwhile, and
	// its answer with it.
	void     bool
	decision policy.Decision
	err      error
}

// counted is who is limited: what has one counter for each limit.
type counted struct{ label, policy, key string }

func (c *call) counted() counted {
	return counted{c.via.options.Label, c.policy.Name, c.request.Key}
}

// cost is the units that the call asks for.
func (c *call) cost() int64 { return max(c.request.Cost, 1) }

// ask makes one call through m and waits for its answer.
func (r *run) ask(m *member, op limiter.Op, p *policy.Policy, request policy.Request) *call {
	c := &call{op: op, request: request, policy: p, via: m}
	c.request.Policy = p.Name
	node, restless, began := r.begin(c)
	switch op {
	case limiter.Reset:
		c.decision, c.err = node.Reset(context.Background(), p.Name, request.Key)
	default:
		c.request.Peek = op == limiter.Peek
		c.decision, c.err = node.Check(context.Background(), c.request)
	}
	r.end(c, restless, began)
	return c
}

// begin notes a call that is about to be made.
func (r *run) begin(c *call) (node *testcluster.Node, restless int, began moment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.begun = time.Now()
	c.via.busy.Add(1)
	c.via.calls++
	for _, i := range r.invariants {
		i.begun(c)
	}
	return c.via.node, c.via.restless, r.health.moment
}

// end holds a call that was answered against the invariants.
func (r *run) end(c *call, restless int, began moment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer c.via.busy.Done()
	c.ended = time.Now()
	c.void = c.via.restless != restless
	c.era, c.healthy = r.health.through(began)
	for _, i := range r.invariants {
		r.fail(i.decided(c))
	}
}
