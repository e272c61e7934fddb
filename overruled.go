package murmurate

import (
	"slices"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// overruled are the overrides that were set at run time, made ready for checks
// under one set of policies. It is immutable and replaced whole, so that a
// check takes no lock.
type overruled struct {
	identity cluster.Identity
	set      *policy.Set
	// all are those that the node holds, whether their policy is there or not,
	// by whom they are for.
	all map[limiter.Subject]*overruling
	// byPolicy finds the one that is in force for a subject, however its key is
	// spelled.
	byPolicy map[string]map[limiter.Subject]*overruling
	// takes and looks are what checks ask, in the form of
	// policy.MatchOptions.Override. A fingerprint is only for those who look.
	takes, looks func(policyName, key string) *policy.CompiledOverride
}

// overruling is one override.
type overruling struct {
	said     cluster.Override
	value    overrideValue
	override policy.Override
	// compiled is nil if the policy is not there, or value cannot be read.
	compiled *policy.CompiledOverride
}

// remakeOverrides follows a change of the overrides or of the policies.
func (n *Node) remakeOverrides() {
	n.remaking.Lock()
	defer n.remaking.Unlock()
	said := n.overrides.All()
	if len(said) == 0 {
		n.overruled.Store(nil)
		return
	}
	next := &overruled{
		identity: n.identity,
		set:      n.Policies(),
		all:      make(map[limiter.Subject]*overruling, len(said)),
		byPolicy: make(map[string]map[limiter.Subject]*overruling),
	}
	next.takes = func(policyName, key string) *policy.CompiledOverride {
		return next.find(policyName, key, false).compiledOrNil()
	}
	next.looks = func(policyName, key string) *policy.CompiledOverride {
		return next.find(policyName, key, true).compiledOrNil()
	}
	old := n.overruled.Load()
	for i := range said {
		next.add(n.overruling(&said[i], old, next.set))
	}
	n.overruled.Store(next)
}

// overruling makes said ready under set, or takes it from old if it is ready
// there.
func (n *Node) overruling(said *cluster.Override, old *overruled, set *policy.Set) *overruling {
	r := &overruling{said: *said}
	if known := old.get(said); known != nil {
		if old.set == set {
			return known
		}
		r.value, r.override = known.value, known.override
	} else {
		var err error
		if r.value, r.override, err = decodeOverride(said.Value); err != nil {
			n.options.Logger.Warn("an override cannot be read, and has no effect on this node: is it of a later version?",
				"subject", said.Subject, "policy", r.value.Policy, "set_on", said.Node, "error", err)
		}
	}
	if r.override.Unlimited || r.override.Blocked || len(r.override.Limits) > 0 {
		r.compiled, _ = set.CompileOverride(r.value.Policy, &r.override) // nil until the policy is there
	}
	return r
}

// get is what t has for the very same word, or nil.
func (t *overruled) get(said *cluster.Override) *overruling {
	if t == nil {
		return nil
	}
	r := t.all[said.Subject]
	if r == nil || r.said.Counter != said.Counter || r.said.Node != said.Node {
		return nil
	}
	return r
}

func (t *overruled) add(r *overruling) {
	t.all[r.said.Subject] = r
	subjects := t.byPolicy[r.value.Policy]
	if subjects == nil {
		subjects = make(map[limiter.Subject]*overruling)
		t.byPolicy[r.value.Policy] = subjects
	}
	for _, s := range append([]limiter.Subject{r.said.Subject}, r.value.Also...) {
		if other := subjects[s]; other == nil || r.said.Over(&other.said) {
			subjects[s] = r
		}
	}
}

// find is the one in force for a key of a policy, or nil. named: the key may
// be a fingerprint.
func (t *overruled) find(policyName, key string, named bool) *overruling {
	subjects := t.byPolicy[policyName]
	if subjects == nil {
		return nil
	}
	if named {
		if s, ok := limiter.ParseSubject(key); ok {
			return subjects[s]
		}
	}
	return subjects[t.identity.Subject(policyName, key)]
}

func (r *overruling) compiledOrNil() *policy.CompiledOverride {
	if r == nil {
		return nil
	}
	return r.compiled
}

// matching are all overrides of a policy that are for any of the subjects, the
// last word first.
func (t *overruled) matching(policyName string, subjects []limiter.Subject) (found []*overruling) {
	if t == nil {
		return nil
	}
	for _, r := range t.all {
		if r.value.Policy == policyName && r.isFor(subjects) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *overruling) int {
		if a.said.Over(&b.said) {
			return -1
		}
		return 1
	})
	return found
}

func (r *overruling) isFor(subjects []limiter.Subject) bool {
	return slices.Contains(subjects, r.said.Subject) ||
		slices.ContainsFunc(r.value.Also, func(s limiter.Subject) bool { return slices.Contains(subjects, s) })
}

// matching is what a check says of the overrides that were set at run time.
// named: its key may be a fingerprint.
func (n *Node) matching(named bool) policy.MatchOptions {
	t := n.overruled.Load()
	switch {
	case t == nil:
		return policy.MatchOptions{}
	case named:
		return policy.MatchOptions{Override: t.looks}
	}
	return policy.MatchOptions{Override: t.takes}
}

// runtimeRule is how policy.Explanation.Rule says that an override was set at
// run time.
const runtimeRule = "override"

// originOf has e say where an override was set, while it has the key.
func (n *Node) originOf(e *policy.Explanation) {
	t := n.overruled.Load()
	if e.Rule != runtimeRule || t == nil {
		return
	}
	if r := t.find(e.Policy, e.Applied.Key, false); r != nil {
		e.Rule += " set on " + r.said.Node
	}
}
