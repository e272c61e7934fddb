package murmurate

import (
	"errors"

	"github.com/murmurate/murmurate/policy"
)

var errNoPolicies = errors.New("murmurate: the policies must not be nil; policy.NewSet() holds the built-in one")

// Policies are the policies in force.
func (n *Node) Policies() *policy.Set { return n.policies.Load() }

// SetPolicies puts set in force in place of all policies so far. Checks under
// way go on by those that they began with, and every later one goes by set; a
// Wait asks again by set. Nothing stops meanwhile.
//
// What was spent stays spent: a counter belongs to the names of its policy
// and its limit, the algorithm and the period. A higher count or burst gives
// room at once, a lower one may deny until what was spent has drained. A
// limit that is not among set any more keeps its counters until they expire.
//
// Overrides that were set at run time go on, for what set has: one for a policy
// or a limit that is not there has no effect until it is again.
//
// The other nodes are not told. A limit travels with the check, so until all
// have the same set the counter of a key is one, and each node judges it by
// the limit that it was given. The error is for a nil set, or for durable
// limits without Options.DataDir, and changes nothing.
func (n *Node) SetPolicies(set *policy.Set) error {
	if set == nil {
		return errNoPolicies
	}
	if err := n.options.keeps(set); err != nil {
		return err
	}
	n.policies.Store(set)
	n.book.compile(n.Policies)
	return nil
}
