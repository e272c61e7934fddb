package murmurate

import (
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Explain says of every policy whether it applies to a request with
// Attributes, and how. It charges nothing. What stands for a key in it is its
// fingerprint.
func (n *Node) Explain(r policy.Request) []policy.Explanation {
	o := n.matching(false)
	o.Key, o.DefaultKey, o.Cost = r.Key, r.DefaultKey, r.Cost
	all := n.Policies().Explain(r.Attributes, o)
	for i := range all {
		if a := &all[i].Applied; a.Key != "" {
			n.originOf(&all[i])
			a.Key = n.subject(limiter.Take, a).String()
		}
	}
	return all
}
