package murmurate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// The shortest and the longest time for which an override can be set.
const (
	minOverrideTime = time.Millisecond
	maxOverrideTime = 10 * 366 * 24 * time.Hour
)

// RuntimeOverride is an override that was set at run time. It is in force
// while its policy is; see Node.SetPolicies.
type RuntimeOverride struct {
	// Policy is the policy's name.
	Policy string
	// Subject is the fingerprint of the key. The key itself is not kept.
	Subject limiter.Subject
	// Override is what holds. Its Key and KeyPrefix are empty.
	Override policy.Override
	// Expires is how long it is left. 0: until it is removed.
	Expires time.Duration
	// Node is where it was set.
	Node string
}

// SetOverride gives one key of the named policy other limits, or none, or
// blocks it, in place of an override that was set before. It wins over the
// configuration and over tiers. o.Key is not looked at; expiresIn 0 means until
// it is removed. Limits are as durable as those that they take the place of: a
// limit that says so in the place of one that is not is an error.
//
// key is the value alone, or as the policy makes keys, as in the overrides of
// the configuration; or its Fingerprint. Written as a value alone the override
// holds for that key however a check spells it; otherwise for the spelling that
// is given, and for those that an earlier override of that key had. It is one
// override under each of its names.
//
// When SetOverride returns, the override holds on this node, and with
// Options.DataDir it is on disk. It reaches every other node within a second,
// or when it is within reach again. Of two that were set for one key on
// different nodes, the later holds everywhere.
//
// The errors are policy.ErrInput, cluster.ErrOverridesFull, ErrClosed, and what
// the disk says. Nothing has changed then.
func (n *Node) SetOverride(policyName, key string, o policy.Override, expiresIn time.Duration) (RuntimeOverride, error) {
	o.Key = key
	if err := n.Policies().CheckOverride(policyName, &o); err != nil {
		return RuntimeOverride{}, err
	}
	if expiresIn != 0 && (expiresIn < minOverrideTime || expiresIn > maxOverrideTime) {
		return RuntimeOverride{}, &policy.InputError{Field: "expires_in", Detail: fmt.Sprintf(
			"must be %v to %v, or be left out for an override that lasts until it is removed", minOverrideTime, maxOverrideTime)}
	}
	subjects, instead, err := n.names(policyName, key)
	if err != nil {
		return RuntimeOverride{}, err
	}
	v := overrideValue{Policy: policyName, Also: subjects[1:], Unlimited: o.Unlimited, Blocked: o.Blocked}
	for i := range o.Limits {
		v.Limits = append(v.Limits, valueOf(&o.Limits[i]))
	}
	value, err := v.encode()
	if err != nil {
		return RuntimeOverride{}, err
	}
	if len(value) > cluster.MaxOverrideBytes {
		return RuntimeOverride{}, &policy.InputError{Field: "override.limits", Detail: "take too much room: give fewer limits, with shorter names"}
	}
	said, err := n.overrides.Set(subjects[0], value, expiresIn, instead...)
	if err != nil {
		return RuntimeOverride{}, closedError(err)
	}
	n.tellOverrides()
	o.Key = ""
	return runtimeOverride(&said, policyName, o), nil
}

// Override returns the override that was set for a key of the named policy at
// run time, by any of the key's names, and whether there is one. The error is
// a policy.ErrInput.
func (n *Node) Override(policyName, key string) (RuntimeOverride, bool, error) {
	found, err := n.overridesOf(policyName, key)
	if err != nil || len(found) == 0 {
		return RuntimeOverride{}, false, err
	}
	r := found[0]
	return runtimeOverride(&r.said, r.value.Policy, r.override), true, nil
}

// RemoveOverride takes back what SetOverride did for a key, by any of the key's
// names, and reports whether there was anything. It reaches the other nodes as
// SetOverride does, and its errors are the same but for ErrOverridesFull.
func (n *Node) RemoveOverride(policyName, key string) (bool, error) {
	found, err := n.overridesOf(policyName, key)
	if err != nil {
		return false, err
	}
	subjects := make([]limiter.Subject, len(found))
	for i, r := range found {
		subjects[i] = r.said.Subject
	}
	was, err := n.overrides.Remove(subjects...)
	if was {
		n.tellOverrides()
	}
	return was, closedError(err)
}

// Overrides are all overrides that were set at run time, by policy and then by
// fingerprint, those of policies that are not there (any more) among them.
func (n *Node) Overrides() []RuntimeOverride {
	var all []RuntimeOverride
	for _, r := range n.book.list() {
		all = append(all, runtimeOverride(&r.said, r.value.Policy, r.override))
	}
	slices.SortFunc(all, func(a, b RuntimeOverride) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Subject.Hi, b.Subject.Hi), cmp.Compare(a.Subject.Lo, b.Subject.Lo))
	})
	return all
}

func runtimeOverride(said *cluster.Override, policyName string, o policy.Override) RuntimeOverride {
	return RuntimeOverride{Policy: policyName, Subject: said.Subject, Override: o, Expires: said.Left(), Node: said.Node}
}

// overridesOf are those for a key, the one in force first.
func (n *Node) overridesOf(policyName, key string) ([]*overruling, error) {
	subjects, err := n.subjectsOf(policyName, key)
	if err == nil {
		return n.book.find(policyName, subjects), nil
	}
	// What was set for a policy that is gone can still be looked at and removed.
	s, named := limiter.ParseSubject(key)
	if !named {
		s = n.identity.Subject(policyName, key)
	}
	if found := n.book.find(policyName, []limiter.Subject{s}); len(found) > 0 {
		return found, nil
	}
	return nil, err
}

// subjectsOf are all that key can mean in the named policy, first the one that
// the policy makes.
func (n *Node) subjectsOf(policyName, key string) ([]limiter.Subject, error) {
	if err := policy.CheckLookup(key); err != nil {
		return nil, err
	}
	set := n.Policies()
	keys, err := set.OverrideKeys(policyName, key)
	if err != nil {
		return nil, err
	}
	applied, err := set.Apply(nil, &policy.Request{Policy: policyName, Key: key}, policy.MatchOptions{})
	if err != nil {
		return nil, err
	}
	var subjects []limiter.Subject
	if s, named := limiter.ParseSubject(key); named {
		subjects = []limiter.Subject{s}
	} else {
		for _, key := range slices.Backward(keys) {
			subjects = append(subjects, n.identity.Subject(policyName, key))
		}
	}
	// A policy by global has one key, whatever it is given.
	if only := applied[0].Key; only != key && !slices.Contains(subjects, n.identity.Subject(policyName, only)) {
		return nil, &policy.InputError{Field: "key", Detail: fmt.Sprintf("policy %q counts everybody together: its only key is %q", policyName, only)}
	}
	return subjects, nil
}

// names are whom an override for key is for: first the subject that it is kept
// by, then its other names, those of earlier overrides of that key included.
// The overrides in instead, which are for another of the names, give way to it.
func (n *Node) names(policyName, key string) (subjects, instead []limiter.Subject, err error) {
	if subjects, err = n.subjectsOf(policyName, key); err != nil {
		return nil, nil, err
	}
	found := n.book.find(policyName, subjects)
	if s, named := limiter.ParseSubject(key); named {
		switch other := n.book.keptBy(s); {
		case len(found) > 0:
			subjects = []limiter.Subject{found[0].said.Subject, s}
		case other != nil:
			return nil, nil, &policy.InputError{Field: "key", Detail: fmt.Sprintf(
				"%v has an override in policy %q: a fingerprint belongs to one policy", s, other.value.Policy)}
		}
	}
	kept := subjects[0]
	for _, r := range found {
		subjects = append(append(subjects, r.said.Subject), r.value.Also...)
		if r.said.Subject != kept {
			instead = append(instead, r.said.Subject)
		}
	}
	var once []limiter.Subject
	for _, s := range subjects {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once, instead, nil
}

// tellOverrides has the others told at once where that needs to be asked for.
func (n *Node) tellOverrides() {
	select {
	case n.news <- struct{}{}:
	default:
	}
}

func closedError(err error) error {
	if errors.Is(err, cluster.ErrOverridesClosed) {
		return ErrClosed
	}
	return err
}
