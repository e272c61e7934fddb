package murmurate

import (
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// configuredKeys are the keys that the overrides of one set are for, by
// fingerprint. Who looks by fingerprint would otherwise see a blocked key as
// one that is free. Prefixes have no fingerprint: which keys begin with them
// is not to be seen from theirs.
type configuredKeys struct {
	set *policy.Set
	of  map[limiter.Subject]configuredKey
}

type configuredKey struct{ policy, key string }

// byFingerprint reports whether r may have the fingerprint that somebody saw in
// place of a key: to look, or to reset. Those who take may not, as what a
// client sends as its key would name another's counter; nor may those who only
// look for now and are charged when they settle. Nor may a DefaultKey be one,
// which is that of somebody who takes, whoever looks on their behalf.
func byFingerprint(op limiter.Op, r *policy.Request) bool {
	return op != limiter.Take && r.Key != "" && !r.Receipt
}

// spell puts the key in the place of its fingerprint in r, if the
// configuration tells it. The error is for what only begins like a fingerprint.
func (n *Node) spell(r *policy.Request) error {
	if r.Key == "" {
		return nil
	}
	if err := policy.CheckLookup(r.Key); err != nil {
		return err
	}
	s, ok := limiter.ParseSubject(r.Key)
	if !ok {
		return nil
	}
	if c, ok := n.configured()[s]; ok && (r.Policy == "" || r.Policy == c.policy) {
		r.Key = c.key
	}
	return nil
}

// configured are the keys of the policies in force, made anew after those were
// replaced.
func (n *Node) configured() map[limiter.Subject]configuredKey {
	set := n.Policies()
	if made := n.spelled.Load(); made != nil && made.set == set {
		return made.of
	}
	made := &configuredKeys{set: set, of: make(map[limiter.Subject]configuredKey)}
	for _, p := range set.Policies() {
		for i := range p.Overrides {
			keys, _ := set.OverrideKeys(p.Name, p.Overrides[i].Key) // the policy is the set's
			for _, key := range keys {
				if key != "" { // that of a prefix
					made.of[n.identity.Subject(p.Name, key)] = configuredKey{p.Name, key}
				}
			}
		}
	}
	n.spelled.Store(made)
	return made.of
}

// subject is whom a counts. named: its key may be a fingerprint.
func (n *Node) subject(a *policy.Applied, named bool) limiter.Subject {
	if named {
		if s, ok := limiter.ParseSubject(a.Key); ok {
			return s
		}
	}
	return n.identity.Subject(a.Plan.Namespace(), a.Key)
}
