package murmurate

import (
	"maps"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// overruled is what checks see of the overrides that were set at run time. It
// is immutable and replaced whole, so that a check takes no lock.
type overruled struct {
	identity cluster.Identity
	byPolicy map[string]*overruledKeys
	// takes and looks are what checks ask, in the form of
	// policy.MatchOptions.Override. A fingerprint is only for those who look.
	takes, looks func(policyName, key string) *policy.CompiledOverride
}

// overruledKeys are the overrides of one policy by each name of their keys, in
// parts of which a change copies one.
type overruledKeys struct {
	count int
	parts [256]map[limiter.Subject]*overruling
}

// overruling is one override.
type overruling struct {
	said     cluster.Override
	value    overrideValue
	override policy.Override
	// compiled is nil if the policy is not there, or value cannot be read.
	compiled *policy.CompiledOverride
}

// part is where s is: subjects are evenly spread.
func part(s limiter.Subject) uint8 { return uint8(s.Lo) }

func newOverruled(identity cluster.Identity, byPolicy map[string]*overruledKeys) *overruled {
	t := &overruled{identity: identity, byPolicy: byPolicy}
	t.takes = func(policyName, key string) *policy.CompiledOverride { return t.compiled(policyName, key, false) }
	t.looks = func(policyName, key string) *policy.CompiledOverride { return t.compiled(policyName, key, true) }
	return t
}

// with is t with r in force for one name of a key, or nothing if r is nil. t
// may be nil, and so is a table that would hold nothing.
func (t *overruled) with(identity cluster.Identity, name overrideName, r *overruling) *overruled {
	byPolicy := make(map[string]*overruledKeys)
	if t != nil {
		byPolicy = maps.Clone(t.byPolicy)
	}
	keys := new(overruledKeys)
	if old := byPolicy[name.policy]; old != nil {
		*keys = *old
	}
	keys.put(name.subject, r)
	byPolicy[name.policy] = keys
	if keys.count == 0 {
		delete(byPolicy, name.policy)
	}
	if len(byPolicy) == 0 {
		return nil
	}
	return newOverruled(identity, byPolicy)
}

func (k *overruledKeys) put(s limiter.Subject, r *overruling) {
	entries := maps.Clone(k.parts[part(s)])
	k.count -= len(entries)
	if entries == nil {
		entries = make(map[limiter.Subject]*overruling)
	}
	if r == nil {
		delete(entries, s)
	} else {
		entries[s] = r
	}
	k.count += len(entries)
	k.parts[part(s)] = entries
}

// find is the override in force for a key of a policy, or nil. named: the key
// may be a fingerprint.
func (t *overruled) find(policyName, key string, named bool) *overruling {
	keys := t.byPolicy[policyName]
	if keys == nil {
		return nil
	}
	var s limiter.Subject
	fingerprint := false
	if named {
		s, fingerprint = limiter.ParseSubject(key)
	}
	if !fingerprint {
		s = t.identity.Subject(policyName, key)
	}
	return keys.parts[part(s)][s]
}

func (t *overruled) compiled(policyName, key string, named bool) *policy.CompiledOverride {
	if r := t.find(policyName, key, named); r != nil {
		return r.compiled
	}
	return nil
}

// matching is what a check says of the overrides that were set at run time.
// named: its key may be a fingerprint.
func (n *Node) matching(named bool) policy.MatchOptions {
	t := n.book.inForce.Load()
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
	t := n.book.inForce.Load()
	if e.Rule != runtimeRule || t == nil {
		return
	}
	if r := t.find(e.Policy, e.Applied.Key, false); r != nil {
		e.Rule += " set on " + r.said.Node
	}
}
