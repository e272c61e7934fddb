package policy

import (
	"context"
	"errors"
	"time"
)

// Errors of leases, matched with errors.Is.
var (
	// ErrLapsed means that a lease has its slots no more: it was not renewed in
	// time, or was released by its token, or its counters were reset, or have moved
	// to another node. Of slots that are free nobody knows which of these it was.
	ErrLapsed = errors.New("the lease has lapsed or was released: acquire a new one")
	// ErrReleased is the end of a lease that its holder released.
	ErrReleased = errors.New("the lease was released")
)

// Lease is a slot of each concurrency limit that applied to a request, until
// it is released. Whoever made it renews it meanwhile. It is safe for
// concurrent use.
type Lease interface {
	// Release frees the slots. Only the first call does; ctx's end does not
	// keep it from that. The error says that a node was out of reach: it is
	// asked again in the background, and the slots come back by their TTL at
	// the latest.
	Release(ctx context.Context) error
	// Done is closed when the lease is released or lost.
	Done() <-chan struct{}
	// Err is nil while the lease holds, and then ErrReleased, or why it was
	// lost: ErrLapsed, or that the node was closed.
	Err() error
	// Token names the lease to every node of the cluster, for others to release.
	Token() string
}

// Grant is a lease that its holder has to renew.
type Grant struct {
	// Decision is that of the acquisition or the renewal.
	Decision Decision
	// Token names the lease to every node of the cluster. Empty if there is
	// none, because the request was denied.
	Token string
	// TTL is how long the lease holds from now on without a renewal.
	TTL time.Duration
}
