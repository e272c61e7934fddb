// Package ring says which member owns a partition.
//
// [Build] turns a set of member ids into an immutable [Ring]: the same ids
// give the same owners on every node, whatever came before. A key's
// fingerprint falls into one of [Partitions] partitions ([Ring.Partition]),
// and [Ring.Owner] is one read of a table.
//
// The hashing with bounded loads is that of buraksezer/consistent (after
// Mirrokni, Thorup and Zadimoghaddam, "Consistent Hashing with Bounded
// Loads", 2016). Its parameters are constants of the protocol: nodes with
// others do not join.
package ring
