// Package receipt is what a client is given with a check whose cost is an
// estimate, and brings back when it knows the real one.
//
// A node makes a [Receipt] of what it has charged and signs it; any node of
// the cluster opens it again and finds there all that settling needs: whose
// counters, by which limits, and how much was charged. So no node remembers
// what it has handed out, and a receipt stays good when policies change.
//
// A receipt does not hold the key, only its fingerprint. Whoever has it can
// settle it, once; that is for the owner of the counters to see to.
package receipt
