package scenario

import (
	"errors"
	"fmt"
	"time"

	"github.com/murmurate/murmurate/cluster"
)

type advance struct{ time time.Duration }

func parseAdvance(w *words) step {
	return &advance{w.duration("how long", w.argument("how long"))}
}

func (a *advance) run(r *run) (answer, error) {
	r.pass(a.time)
	return nil, nil
}

func parseAwait(w *words) step {
	switch what := w.argument("what to wait for"); what {
	case "load":
		return awaitLoads{}
	case "agree":
		return &awaitAgree{w.within()}
	case "owner":
		return &awaitOwner{ownerOf: parseOwnerOf(w), owner: w.node("the owner"), within: w.within()}
	default:
		w.refuse("cannot wait for %q: agree, owner or load", what)
		return nil
	}
}

func (w *words) within() time.Duration {
	return w.duration("within", w.option("within", agreeWithin.String()))
}

// agreePoll spaces the looks at whether all agree.
const agreePoll = 10 * time.Millisecond

// awaitAgree lets time run until all members agree and reach each other, as
// far as the scenario lets them.
type awaitAgree struct{ within time.Duration }

func (a *awaitAgree) run(r *run) (answer, error) {
	began, differ := time.Now(), ""
	err := r.await(a.within, agreePoll, "the members agree", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		differ = r.health.disagreement()
		return differ == "" && (r.health.faulty() || r.health.whole())
	})
	if err != nil && differ != "" {
		return nil, fmt.Errorf("%w: %s", err, differ)
	}
	var said answer
	said.add("after", time.Since(began))
	return said, err
}

// ownerOf asks one node who owns a key.
type ownerOf struct {
	key, policy string
	via         via
}

func parseOwner(w *words) step { o := parseOwnerOf(w); return &o }

func parseOwnerOf(w *words) ownerOf {
	return ownerOf{w.argument("the key"), w.option("policy", ""), w.via()}
}

func (o *ownerOf) run(r *run) (answer, error) {
	owner, err := o.ask(r, r.key(o.key))
	return answer{{name: owner}}, err
}

func (o *ownerOf) ask(r *run, key string) (string, error) {
	p, err := r.policy(o.policy)
	if err != nil {
		return "", err
	}
	nodes, err := r.candidates(o.via)
	if err != nil {
		return "", err
	}
	owner, err := nodes[0].node.OwnerOf(p.Name, key)
	if owner == "" {
		owner = "nobody"
	}
	return owner, err
}

// awaitOwner lets time run until one node takes another for the owner of a key.
type awaitOwner struct {
	ownerOf
	owner  string
	within time.Duration
}

func (a *awaitOwner) run(r *run) (answer, error) {
	var failed error
	err := r.await(a.within, time.Millisecond, "the key has the owner "+a.owner, func() bool {
		var owner string
		owner, failed = a.ask(r, r.key(a.key))
		return failed != nil || owner == a.owner
	})
	return nil, errors.Join(failed, err)
}

// bindKey makes a name stand for the first of NAME0, NAME1, ... that a node
// owns.
type bindKey struct {
	ownerOf
	owner string
}

func parseKey(w *words) step {
	b := &bindKey{ownerOf: ownerOf{key: w.argument("the key"), policy: w.option("policy", "")}}
	b.owner = w.nodeName(w.option("owner", ""))
	if b.owner == "" {
		w.refuse("owner is missing")
	}
	return b
}

// maxKeysTried is far more than it takes to find a key of a node among many.
const maxKeysTried = 10_000

func (b *bindKey) run(r *run) (answer, error) {
	for i := range maxKeysTried {
		key := fmt.Sprint(b.key, i)
		owner, err := b.ask(r, key)
		if err != nil {
			return nil, err
		}
		if owner == b.owner {
			r.keys[b.key] = key
			return answer{{name: key}}, nil
		}
	}
	return nil, fmt.Errorf("%s owns none of %s0 to %s%d", b.owner, b.key, b.key, maxKeysTried-1)
}

// oneNode is a look at one node.
type oneNode struct {
	via via
	say func(*member) answer
}

func (o *oneNode) run(r *run) (answer, error) {
	nodes, err := r.candidates(o.via)
	if err != nil {
		return nil, err
	}
	return o.say(nodes[0]), nil
}

func parseMembers(w *words) step { return &oneNode{w.via(), members} }

// members says whom a node knows: its state, or that it is out of reach.
func members(m *member) answer {
	var a answer
	for _, status := range m.node.Members() {
		state := status.State.String()
		if !status.Reachable && status.Role != cluster.RoleClient {
			state = "unreachable"
		}
		a.add(status.ID, state)
	}
	return a
}

func parseReadiness(w *words) step { return &oneNode{w.via(), readiness} }

// readiness says whether a node is ready, and each of its conditions.
func readiness(m *member) answer {
	var a answer
	ready := m.node.Readiness()
	if ready.Ready {
		a.word("ready")
	} else {
		a.word("unready")
	}
	if ready.Alone {
		a.word("alone")
	}
	for _, c := range ready.Conditions {
		value := "ok"
		if !c.OK {
			value = "not_ok"
		}
		a.add(c.Name, value)
	}
	return a
}

// compareDigests says whether all nodes that run have one digest.
type compareDigests struct{}

func parseDigest(*words) step { return compareDigests{} }

func (compareDigests) run(r *run) (answer, error) {
	nodes, err := r.candidates(via{all: true})
	if err != nil {
		return nil, err
	}
	for _, m := range nodes[1:] {
		if m.node.Digest() != nodes[0].node.Digest() {
			return answer{{name: "different"}}, nil
		}
	}
	return answer{{name: "equal"}}, nil
}

// forwards says what became of the calls that nodes sent to others since it
// was last asked.
type forwards struct{ via via }

func parseForwards(w *words) step { return &forwards{w.via()} }

func (f *forwards) run(r *run) (answer, error) {
	nodes, err := r.candidates(f.via)
	if err != nil {
		return nil, err
	}
	var a answer
	for _, outcome := range cluster.Forwards() {
		n := 0
		for _, m := range nodes {
			n += m.heard.news(outcome)
		}
		a.add(string(outcome), n)
	}
	return a, nil
}
