package murmurate

import (
	"context"
	"fmt"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Members lists the cluster as this node sees it, itself included, by id.
func (n *Node) Members() []cluster.MemberStatus {
	if n.members == nil {
		return []cluster.MemberStatus{{
			Member:    cluster.Member{ID: n.options.Name, Role: cluster.RoleOwner, State: cluster.StateActive, Version: n.options.Version},
			Reachable: true,
			Owned:     1,
		}}
	}
	return n.members.Members()
}

// Readiness says whether the node should receive traffic, and why not. With
// Options.DataDir there is a condition "data_dir", which does not bear on that: it
// says whether what is written there will be found.
func (n *Node) Readiness() cluster.Readiness {
	r := cluster.Readiness{Ready: true}
	if n.members != nil {
		r = n.members.Readiness()
	}
	if n.data.journal == nil {
		return r
	}
	c := cluster.Condition{Name: "data_dir", OK: true}
	if err := n.data.journal.Trouble(); err != nil {
		c.OK, c.Detail = false, err.Error()
	}
	r.Conditions = append(r.Conditions, c)
	return r
}

// Digest identifies the assignment of keys to nodes: nodes with equal
// digests agree on every owner.
func (n *Node) Digest() uint64 { return n.view().Digest }

// OwnerOf is the id of the node that owns key in the named policy, empty if
// no owner is known. The error is a policy.ErrInput.
func (n *Node) OwnerOf(policyName, key string) (string, error) {
	s, err := n.subjectOf(policyName, key)
	if err != nil {
		return "", err
	}
	return n.view().OwnerID(s), nil
}

// Fingerprint is what people are shown instead of key in the named policy:
// "fp:" and 32 hexadecimal digits. The error is a policy.ErrInput.
func (n *Node) Fingerprint(policyName, key string) (string, error) {
	s, err := n.subjectOf(policyName, key)
	if err != nil {
		return "", err
	}
	return s.String(), nil
}

// subjectOf is whom key stands for in the named policy, which may be its
// fingerprint. The error is a policy.ErrInput.
func (n *Node) subjectOf(policyName, key string) (limiter.Subject, error) {
	r := policy.Request{Policy: policyName, Key: key}
	if err := n.spell(&r); err != nil {
		return limiter.Subject{}, err
	}
	applied, err := n.Policies().Apply(nil, &r, policy.MatchOptions{})
	if err != nil {
		return limiter.Subject{}, err
	}
	return n.subject(&applied[0], true), nil
}

// Keys is the number of counters that this node holds.
func (n *Node) Keys() int { return n.owned.Len() + n.shares.Len() }

// Failed delivers the error of a node that cannot go on, such as one whose
// name another live node bears already. Without one it never delivers.
func (n *Node) Failed() <-chan error {
	if n.members == nil {
		return nil
	}
	return n.members.Failed()
}

// Evict takes the place of a member away that is gone for good, so that its keys
// have an owner again. The errors are cluster.ErrNoMember, cluster.ErrMemberAlive
// and cluster.ErrMinority, the last of which force overrules; see
// cluster.Membership.Evict. It takes effect on every node that this one reaches.
func (n *Node) Evict(id string, force bool) error {
	if n.members == nil {
		return fmt.Errorf("%w: %q", cluster.ErrNoMember, id)
	}
	return n.members.Evict(id, force)
}

// Drain takes the node out of the ring: it is no longer ready, others take
// over its keys, and it goes on answering checks by asking them. It returns
// when the reachable members know, or when ctx ends.
func (n *Node) Drain(ctx context.Context) error {
	if n.members == nil {
		return nil
	}
	return n.members.Drain(ctx)
}
