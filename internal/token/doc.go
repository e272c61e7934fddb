// Package token signs what a node hands to a client and takes back later,
// perhaps on another node: leases of concurrency limits and receipts of
// estimated costs.
//
// A token is readable, and cannot be made or changed by anybody without the
// cluster's key. It is no proof of who presents it: whoever has it may use it.
package token
