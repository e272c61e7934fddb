package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// target is what calls are about, and who is asked.
type target struct {
	key, policy string
	cost        int64
	via         via
}

func parseTarget(w *words, withCost bool) target {
	t := target{key: w.argument("the key"), policy: w.option("policy", ""), via: w.via()}
	if withCost {
		t.cost = int64(w.number("cost", 1, 1))
	}
	return t
}

func (t *target) request(r *run) policy.Request {
	return policy.Request{Key: r.key(t.key), Cost: t.cost}
}

// single is one call: take, peek or reset.
type single struct {
	target
	op limiter.Op
}

func parsePeek(w *words) step { return &single{parseTarget(w, true), limiter.Peek} }

func parseReset(w *words) step { return &single{parseTarget(w, false), limiter.Reset} }

func (s *single) run(r *run) (answer, error) {
	p, nodes, err := r.asked(s.policy, s.via)
	if err != nil {
		return nil, err
	}
	return told(r.ask(nodes[0], s.op, p, s.request(r))), nil
}

// told is the answer to a single call.
func told(c *call) answer {
	var a answer
	d := &c.decision
	switch {
	case errors.Is(c.err, policy.ErrInput):
		a.word("refused")
		a.add("error", c.err)
		return a
	case d.Allowed:
		a.word("allowed")
	default:
		a.word("denied")
	}
	a.add("remaining", d.Remaining)
	a.add("source", d.Source)
	a.add("retry", wait(d.RetryAfter))
	a.add("reset", d.ResetAfter)
	if d.Delay > 0 {
		a.add("delay", d.Delay)
	}
	if by := d.DeniedBy(); len(by) > 0 && len(d.Limits) > 1 {
		a.add("by", strings.Join(by, ","))
	}
	switch {
	case errors.Is(c.err, cluster.ErrUnreachable):
		a.add("error", "unreachable")
	case c.err != nil:
		a.add("error", c.err)
	}
	return a
}

// wait is a duration that may be never.
func wait(d time.Duration) string {
	if d == limiter.Never {
		return "never"
	}
	return d.String()
}

// take makes checks, one or many.
type take struct {
	single
	times    int
	parallel bool
}

func parseTake(w *words) step {
	t := &take{single: single{op: limiter.Take}, times: w.number("times", 1, 1), parallel: w.flag("parallel")}
	t.target = parseTarget(w, true)
	return t
}

func (t *take) run(r *run) (answer, error) {
	if t.times == 1 {
		return t.single.run(r)
	}
	p, nodes, err := r.asked(t.policy, t.via)
	if err != nil {
		return nil, err
	}
	tally := newTally()
	var calls sync.WaitGroup
	for i := range t.times {
		calls.Go(func() { tally.add(r.ask(nodes[i%len(nodes)], limiter.Take, p, t.request(r))) })
		if !t.parallel {
			calls.Wait()
		}
	}
	calls.Wait()
	return tally.answer(), nil
}

// same asks every node for the same key at the same instant, and says the one
// answer, or each if they differ.
type same struct{ target }

func parseSame(w *words) step {
	return &same{target{key: w.argument("the key"), policy: w.option("policy", ""), via: via{all: true}}}
}

func (s *same) run(r *run) (answer, error) {
	p, nodes, err := r.asked(s.policy, s.via)
	if err != nil {
		return nil, err
	}
	calls := make([]*call, len(nodes))
	var asking sync.WaitGroup
	for i, m := range nodes {
		asking.Go(func() { calls[i] = r.ask(m, limiter.Peek, p, s.request(r)) })
	}
	asking.Wait()
	said := make([]string, len(nodes))
	var each answer
	equal := true
	for i, c := range calls {
		said[i] = told(c).String()
		each.add(nodes[i].name, said[i])
		equal = equal && said[i] == said[0]
	}
	if equal {
		return told(calls[0]), nil
	}
	return append(answer{{name: "different"}}, each...), nil
}

// batch has one node decide many keys in one CheckAll.
type batch struct {
	target
	keys, bytes int
}

func parseBatch(w *words) step {
	b := &batch{keys: w.number("keys", 0, 1), bytes: w.number("bytes", 0, 0)}
	b.target = parseTarget(w, true)
	return b
}

func (b *batch) run(r *run) (answer, error) {
	p, nodes, err := r.asked(b.policy, b.via)
	if err != nil {
		return nil, err
	}
	requests := make([]policy.Request, b.keys)
	for i := range requests {
		key := fmt.Sprint(b.key, i)
		requests[i] = policy.Request{Policy: p.Name, Cost: b.cost, Key: key + strings.Repeat("x", max(0, b.bytes-len(key)))}
	}
	r.mu.Lock()
	nodes[0].calls += len(requests)
	r.mu.Unlock()
	var a answer
	admitted, denied, errs, refused := 0, 0, 0, 0
	var why error
	for _, o := range nodes[0].node.CheckAll(context.Background(), requests) {
		switch {
		case errors.Is(o.Err, policy.ErrInput):
			refused++
			why = o.Err
			continue
		case o.Err != nil:
			errs++
		}
		if o.Decision.Allowed {
			admitted++
		} else {
			denied++
		}
	}
	a.add("admitted", admitted)
	a.add("denied", denied)
	a.add("errors", errs)
	a.add("refused", refused)
	if why != nil {
		a.add("error", why)
	}
	return a, nil
}
