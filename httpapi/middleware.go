package httpapi

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Checker decides for a [Middleware]. It is safe for concurrent use. A
// *murmurate.Node is one.
type Checker interface {
	// Check decides one request. An error that is policy.ErrInput means that
	// nothing was decided or charged. With any other error the decision has
	// been made by the failure mode.
	Check(ctx context.Context, r policy.Request) (policy.Decision, error)
	// Policies returns the policies in force.
	Policies() *policy.Set
}

// Acquirer is a [Checker] of policies with concurrency limits. A
// *murmurate.Node is one.
type Acquirer interface {
	// Acquire decides one request, and if it is admitted returns the lease of
	// its slots, which it renews until that is released. The errors are those
	// of Check.
	Acquire(ctx context.Context, r policy.Request) (policy.Lease, policy.Decision, error)
	// WaitAcquire is Acquire for a request that would rather wait, until ctx
	// ends or waiting does not help. The lease is nil exactly if there is an
	// error.
	WaitAcquire(ctx context.Context, r policy.Request) (policy.Lease, policy.Decision, error)
}

// Middleware limits the requests to a handler, told apart by key. It goes
// around any [http.Handler], a whole router or one of its routes.
//
// Every policy of node that matches the request applies, or the one of
// [WithPolicy]. They see its method, host, path, query, header and cookies;
// its address with [WithClientAddress], and with [WithAttributes] what the
// application knows of it. key is that of the policies that have none of their
// own; a policy that says what it keys by goes by that. An admitted
// request reaches the handler with the RateLimit fields already set, in the
// turn that a leaky bucket gives it, and with the decision in its context
// ([DecisionFrom]). The ResponseWriter is the server's own (but for
// [WithCostAfter]), so hijacking, flushing and HTTP/2 work as without the
// middleware, and the body is not touched. A denied request does not reach the handler: it is answered with
// Retry-After and a problem (RFC 9457), with the status of the policy that
// denies, 429 unless it says otherwise, or 503 where the failure mode is to
// deny. A request that no policy applies to, or that is exempt, passes without
// RateLimit fields.
//
// With several policies a request is charged by all or by none.
//
// Where a policy that applies has a concurrency limit, a request has a slot of
// it from before its handler begins until it has returned, or panicked; see
// [WithConcurrency]. node must be an [Acquirer] then.
//
// Where middlewares are nested, the fields tell of the limits of all of
// them, once. A middleware that is put together wrongly, such as for a policy
// that does not exist, answers every request with 500 and says what to change.
func Middleware(node Checker, key Key, opts ...Option) func(http.Handler) http.Handler {
	g := newGate(node, key, opts)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if next == nil {
				g.misused(w, r, "the middleware goes around a handler, and this one is nil")
				return
			}
			g.serve(w, r, next)
		})
	}
}

// gate is a middleware before it has a handler.
type gate struct {
	settings
	node     Checker
	acquirer Acquirer // nil if node is none
	key      Key
	writer   *fieldWriter
	fault    string // why no request can be decided
	logged   sync.Once

	settler  Settler   // nil without costs that are known afterwards
	negative sync.Once // such a cost was logged
}

func newGate(node Checker, key Key, opts []Option) *gate {
	g := &gate{settings: newSettings(opts), node: node, key: key}
	g.acquirer, _ = node.(Acquirer)
	switch fault := g.settings.fault(); {
	case missing(node):
		g.fault = "the node is nil; was the error of murmurate.Start looked at?"
	case key.check() != "":
		g.fault = key.check()
	case fault != "":
		g.fault = fault
	}
	if g.after != nil {
		var settles bool
		if g.settler, settles = node.(Settler); !settles && g.fault == "" {
			g.fault = "WithCostAfter needs a node with SettleSoon, such as a *murmurate.Node"
		}
	}
	g.writer = newFieldWriter(g.fields, g.policies)
	return g
}

// policies are those in force, never nil.
func (g *gate) policies() *policy.Set {
	if set := g.node.Policies(); set != nil {
		return set
	}
	return new(policy.Set)
}

// missing reports whether v is nil or holds a nil pointer, which is what
// remains of a constructor whose error nobody looked at.
func missing(v any) bool {
	pointer := reflect.ValueOf(v)
	return v == nil || pointer.Kind() == reflect.Pointer && pointer.IsNil()
}

func (g *gate) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if g.skip != nil && g.skip(r) {
		next.ServeHTTP(w, r)
		return
	}
	if g.fault != "" {
		g.misused(w, r, g.fault)
		return
	}
	check := policy.Request{
		Policy:        g.policy,
		DefaultKey:    g.key.of(r),
		Attributes:    &requestAttributes{request: r, address: g.address, attr: g.attr},
		OnUnreachable: g.mode,
		Receipt:       g.after != nil,
		Peek:          g.after != nil && g.look,
	}
	if g.cost != nil {
		check.Cost = g.cost(r)
		switch {
		case check.Cost < 0:
			g.misused(w, r, "the function of WithCost returned a negative cost; 0 is free")
			return
		case check.Cost == 0:
			next.ServeHTTP(w, r)
			return
		}
	}
	lease, d, err := g.decide(r.Context(), check)
	if lease != nil {
		defer func() { _ = lease.Release(r.Context()) }() // the node tries again
	}
	switch input, ok := errors.AsType[*policy.InputError](err); {
	case ok && strings.HasPrefix(input.Field, "attributes."):
		refuse(w, r, newProblem(http.StatusBadRequest, "what this request says of itself cannot be used: "+input.Field))
		return
	case err != nil:
		g.misused(w, r, misuseOf(err))
		return
	}
	g.answer(w, r, next, &d)
}

// answer lets r through, or not.
func (g *gate) answer(w http.ResponseWriter, r *http.Request, next http.Handler, d *policy.Decision) {
	all, shown := *d, []policy.Decision{*d}
	if outer, nested := DecisionFrom(r.Context()); nested {
		all, shown = both(&outer, d), []policy.Decision{outer, *d}
	}
	limits := shownLimits(shown)
	g.writer.writeLimits(w.Header(), d.Policy, limits)
	r = r.WithContext(withDecision(r.Context(), &all))
	behind := late(r.Context(), d.Delay)
	switch {
	case !d.Allowed:
		g.deny(w, r, d, limits)
	case d.Source != limiter.SourceOwner && d.Source != limiter.SourceNone && r.Context().Err() != nil:
		// To leave, or to bring too little time, must not open the limiter.
		g.unserved(d)
		refuse(w, r, newProblem(http.StatusServiceUnavailable, "the time given to this request ended before the limiter could decide"))
	case !turnComes(r.Context(), d.Delay):
		g.unserved(d)
		g.writer.writeWait(w.Header(), behind)
		refuse(w, r, newProblem(http.StatusServiceUnavailable, "the time given to this request ends before its turn comes; send fewer at once"))
	case d.Receipt != "":
		g.serveAndSettle(w, r, next, d.Receipt)
	default:
		next.ServeHTTP(w, r)
	}
}

// both is the decision of two middlewares, of which one may have had nothing
// to limit.
func both(outer, inner *policy.Decision) policy.Decision {
	switch {
	case inner.Source == limiter.SourceNone:
		return *outer
	case outer.Source == limiter.SourceNone:
		return *inner
	}
	return policy.Combine(*outer, *inner)
}
