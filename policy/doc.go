// Package policy says which limits apply to a request and what the answer
// was.
//
// A [Request] names a policy, or brings its own limit, and a key. [Set.Apply]
// turns it into an [Applied], with a [Plan]: the namespace that identifies the
// subject, the limits to charge and how to fail when they cannot be asked.
// [Plan.Decide] folds the per-limit results into one [Decision], and
// [Combine] those of several policies.
//
// A request that names no policy has [Attributes]. [Set.Match] finds every
// policy that selects it: an index leaves the few that could, their
// conditions are compared with the request's normal forms ([NormalPath]), and
// of each that holds comes an [Applied]: the plan with the limits of the
// request's tier and of the key's override, the key, and the cost.
// [Set.Explain] tells the same of every policy, and why the others do not
// apply. The key is made of its parts by [JoinKey].
//
// A Set is immutable: a changed configuration is a new Set. Nothing here
// reads a clock, counts, or knows of other nodes.
package policy
