// Package policy says which limits apply to a request and what the answer
// was.
//
// A [Request] names a policy, or brings its own limit, and a key.
// [Set.Resolve] turns it into a [Plan]: the namespace and key that identify
// the subject, the limits to charge and how to fail when they cannot be
// asked. [Plan.Decide] folds the per-limit results into one [Decision], and
// [Combine] those of several policies.
//
// The key of a request that has none yet is made of its parts by [JoinKey].
//
// A Set is immutable: a changed configuration is a new Set. Nothing here
// reads a clock, counts, or knows of other nodes.
package policy
