package scenario

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// defaultDeadline is the deadline of a check unless the scenario sets another.
const defaultDeadline = 50 * time.Millisecond

type setSeed struct{ seed uint64 }

func parseSeed(w *words) step {
	text := w.argument("the seed")
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		w.refuse("the seed must be a number, got %q", text)
	}
	return &setSeed{seed}
}

func (*setSeed) setsUp() {}

func (s *setSeed) run(r *run) (answer, error) {
	r.cluster.Seed = s.seed
	return nil, nil
}

type setDeadline struct{ deadline time.Duration }

func parseDeadline(w *words) step {
	return &setDeadline{w.duration("the deadline", w.argument("the deadline"))}
}

func (*setDeadline) setsUp() {}

func (s *setDeadline) run(r *run) (answer, error) {
	r.cluster.Deadline = s.deadline
	return nil, nil
}

// defaultEvictAfter keeps scenarios about something else from being about
// eviction.
const defaultEvictAfter = 24 * time.Hour

// addPolicy is a policy with one limit, or a further limit of the policy
// before it.
type addPolicy struct{ policy policy.Policy }

func parsePolicy(w *words) step {
	p := policy.Policy{Name: w.argument("the name")}
	spec := policy.LimitSpec{
		Algorithm: w.argument("the algorithm"),
		Rate:      w.argument("the rate"),
		Align:     w.option("align", ""),
		Name:      w.option("name", ""),
	}
	if text := w.option("burst", ""); text != "" {
		burst, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			w.refuse("burst must be a number, got %q", text)
		}
		spec.Burst = &burst
	}
	if text := w.option("cooldown", ""); text != "" {
		p.Cooldown.For = w.duration("cooldown", text)
	}
	mode := w.option("on_unreachable", policy.Local.String())
	var ok bool
	if p.OnUnreachable, ok = policy.ParseUnreachable(mode); !ok {
		w.refuse("on_unreachable must be local, allow or deny, got %q", mode)
	}
	if w.fault == nil {
		l, err := spec.Limit()
		if err != nil {
			w.refuse("%w", err)
		}
		p.Limits = append(p.Limits, l)
	}
	if w.fault == nil {
		if err := p.Validate(); err != nil {
			w.refuse("%w", err)
		}
	}
	return &addPolicy{p}
}

func (*addPolicy) setsUp() {}

func (s *addPolicy) run(r *run) (answer, error) {
	for i := range r.policies {
		p := &r.policies[i]
		if p.Name != s.policy.Name {
			continue
		}
		if p.OnUnreachable != s.policy.OnUnreachable {
			return nil, fmt.Errorf("policy %s has another on_unreachable above", p.Name)
		}
		if p.Cooldown != s.policy.Cooldown {
			return nil, fmt.Errorf("policy %s has another cooldown above", p.Name)
		}
		p.Limits = append(p.Limits, s.policy.Limits...)
		for j := range p.Limits { // several limits need names
			p.Limits[j].Name = cmp.Or(p.Limits[j].Name, fmt.Sprint("limit", j+1))
		}
		return nil, p.Validate()
	}
	r.policies = append(r.policies, s.policy)
	return nil, nil
}
