package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// Node decides checks. It is safe for concurrent use.
type Node interface {
	// Check decides one request. An error that is policy.ErrInput means that
	// nothing was decided or charged. With any other error the decision has
	// been made by the policy's failure mode.
	Check(ctx context.Context, r policy.Request) (policy.Decision, error)
	// CheckAll decides many, in their order; each outcome is as of Check.
	CheckAll(ctx context.Context, rs []policy.Request) []policy.Outcome
	// Settle charges what a check with a receipt has really cost in place of
	// its estimate, once. policy.ErrInput: the receipt or the cost is wrong,
	// policy.ErrReceiptExpired in particular, and nothing was changed. With any
	// other error some of it may be left to do, and settling again does it.
	Settle(ctx context.Context, receipt string, actual int64) (policy.Decision, error)
	// Reset makes the counters of a key as if unused, under all of
	// policy.Set.LookupKeys, and returns what a check would then see. After an
	// error nothing is known to be reset.
	Reset(ctx context.Context, policyName, key string) (policy.Decision, error)
	// Grant decides one request and gives it a lease of its concurrency limits,
	// if it is admitted. Its errors are those of Check.
	Grant(ctx context.Context, r policy.Request) (policy.Grant, error)
	// Renew begins the TTL of a lease anew. policy.ErrInput: the token is none,
	// or ttl too long. policy.ErrLapsed: the lease is lost. Other errors: it is
	// not known to have been renewed, nor to be lost.
	Renew(ctx context.Context, token string, ttl time.Duration) (policy.Grant, error)
	// Release frees the slots of a lease, and reports whether that is done. The
	// error is a policy.ErrInput: the token is none.
	Release(ctx context.Context, token string) (released bool, err error)
	// Policies returns the policies in force.
	Policies() *policy.Set
}

// Options says what there is to serve.
type Options struct {
	// Node decides. Required.
	Node Node
	// Client finds who is behind a request to /gateway. Its prefixes make the
	// keys of the addresses in checks too. Nil: nobody's word on a client's
	// address counts but the connection's.
	Client *ClientAddress
	// Cluster answers GET /v1/cluster. policyName and key are both empty, or
	// name a key whose owner is wanted; an unknown policy or a bad key is a
	// policy.ErrInput. Nil: the endpoint does not exist.
	Cluster func(policyName, key string) (ClusterStatus, error)
	// Evict answers DELETE /v1/members/{id}: it gives the place of a member that
	// is gone for good to the others. Its errors are ErrNoMember, and ErrNotEvicted
	// with the reason. Nil: the endpoint does not exist. It needs Cluster.
	Evict func(id string, force bool) error
	// Explain answers POST /v1/check?explain=1: what each policy says of a
	// request, with fingerprints for keys. Nil: such calls are refused.
	Explain func(r policy.Request) []policy.Explanation
	// Overrides are those that are set at run time. Nil: there are none, nor
	// their endpoints.
	Overrides Overrides
	// Ready answers GET /readyz. Nil: always ready.
	Ready func() Readiness
	// Metrics answers GET /metrics. Nil: the endpoint does not exist.
	Metrics http.Handler
	// Fields are the header fields of decisions. The zero value sends
	// Retry-After alone.
	Fields Fields
	// Tokens are the bearer tokens that permit administration.
	Tokens []string
	// OpenAdmin permits administration without a token as long as there are
	// no Tokens. For listeners on loopback.
	OpenAdmin bool
	// Logger receives a line for each act of administration, without the
	// key, and now and then one about gateways whose word on their clients'
	// addresses does not count. Nil: nothing is logged.
	Logger *slog.Logger
}

// API serves one node. It is immutable and safe for concurrent use.
type API struct {
	node      Node
	client    *ClientAddress
	cluster   func(policyName, key string) (ClusterStatus, error)
	evict     func(id string, force bool) error
	explain   func(r policy.Request) []policy.Explanation
	overrides Overrides
	ready     func() Readiness
	metrics   http.Handler
	fields    *fieldWriter
	guard     guard
	log       *slog.Logger
	// unheeded hears of gateways whose word does not count.
	unheeded *unheeded
}

// New returns the API of a node. It begins nothing; see [API.Handler].
func New(o Options) *API {
	a := &API{
		node:      o.Node,
		client:    o.Client,
		cluster:   o.Cluster,
		evict:     o.Evict,
		explain:   o.Explain,
		overrides: o.Overrides,
		ready:     o.Ready,
		metrics:   o.Metrics,
		fields:    newFieldWriter(o.Fields, o.Node.Policies),
		guard:     newGuard(o.Tokens, o.OpenAdmin),
		log:       o.Logger,
	}
	if a.client == nil {
		a.client = &ClientAddress{header: xForwardedFor, prefixes: defaultPrefixes}
	}
	if a.ready == nil {
		a.ready = func() Readiness { return Readiness{Ready: true} }
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	a.unheeded = &unheeded{client: a.client, log: a.log}
	return a
}
