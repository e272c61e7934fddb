package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// maxRedirects is how often a call is asked again after ErrNotOwner.
const maxRedirects = 3

// Forwarded is what became of one call that went to another node.
type Forwarded string

// The outcomes of a forward, used as metric labels.
const (
	ForwardOK          Forwarded = "ok"
	ForwardRedirected  Forwarded = "redirected"
	ForwardFull        Forwarded = "full"
	ForwardUnreachable Forwarded = "unreachable"
	ForwardCancelled   Forwarded = "cancelled" // the caller did not wait
)

// Forwards lists every outcome.
func Forwards() []Forwarded {
	return []Forwarded{ForwardOK, ForwardRedirected, ForwardFull, ForwardUnreachable, ForwardCancelled}
}

// RouterOptions configures a Router.
type RouterOptions struct {
	// View returns the current View. Required.
	View func() *View
	// Owner decides the calls for this node's own partitions. Required.
	Owner *Owner
	// Deadline bounds a call that leaves the node. Required.
	Deadline time.Duration
	// Observe hears of every forward, of several at once. Nil: nobody does.
	Observe func(Forwarded)
}

// Router has each call decided by the owner of its subject.
type Router struct {
	view     func() *View
	owner    *Owner
	deadline time.Duration
	observe  func(Forwarded)
}

// NewRouter returns a Router.
func NewRouter(o RouterOptions) *Router {
	if o.Observe == nil {
		o.Observe = func(Forwarded) {}
	}
	return &Router{view: o.View, owner: o.Owner, deadline: o.Deadline, observe: o.Observe}
}

// Do has call decided and fills results, which has one element for each
// charge. It returns within the deadline.
//
// limiter.ErrFull: the owner has no room, nothing was charged. Otherwise an
// *UnreachableError; the call may have been charged if it was sent.
func (r *Router) Do(ctx context.Context, call *limiter.Call, results []limiter.Result) error {
	v := r.view()
	i := v.owner(call.Subject)
	if i >= 0 && v.self(i) {
		return r.own(v, i, time.Time{}, call, results)
	}
	return r.forward(ctx, time.Now().Add(r.deadline), v, i, call, results)
}

// own decides call here. Without a deadline it has the router's, which costs
// no look at the clock unless there is something to wait for.
func (r *Router) own(v *View, i int, deadline time.Time, call *limiter.Call, results []limiter.Result) error {
	kept, err := r.owner.do(call, results)
	if err == nil && kept != nil {
		within := r.deadline
		if !deadline.IsZero() {
			within = time.Until(deadline)
		}
		err = kept(within)
	}
	if errors.Is(err, ErrNotKept) {
		return &UnreachableError{Member: v.memberID(i), Err: err}
	}
	return err
}

// forward has call decided by ring member i of v, which is not this node, or
// by whoever turns out to own its subject.
func (r *Router) forward(ctx context.Context, deadline time.Time, v *View, i int, call *limiter.Call, results []limiter.Result) error {
	for redirects := 0; ; redirects++ {
		err := r.ask(ctx, deadline, v, i, call, results)
		if !errors.Is(err, ErrNotOwner) {
			return err
		}
		if redirects == maxRedirects || !r.settle(ctx, deadline, v, redirects) {
			return &UnreachableError{Member: v.memberID(i), Err: err}
		}
		v = r.view()
		i = v.owner(call.Subject)
		if i >= 0 && v.self(i) {
			return r.own(v, i, deadline, call, results)
		}
	}
}

// settle gives the members a moment to agree if v is still this node's View:
// then it is the other node that has not heard of it yet, which the exchange
// of placements is about to mend. It reports whether time is left to ask
// again; as nothing was charged, that cannot count twice.
func (r *Router) settle(ctx context.Context, deadline time.Time, v *View, redirects int) bool {
	if r.view() != v {
		return true
	}
	wait := time.Millisecond << (2 * redirects) // 1, 4, 16 ms
	moment := time.NewTimer(min(wait, time.Until(deadline)))
	defer moment.Stop()
	select {
	case <-moment.C:
		return time.Now().Before(deadline)
	case <-ctx.Done():
		return false
	}
}

// ask forwards call to ring member i of v, or to nobody if i is negative.
func (r *Router) ask(ctx context.Context, deadline time.Time, v *View, i int, call *limiter.Call, results []limiter.Result) error {
	if i < 0 {
		r.observe(ForwardUnreachable)
		return &UnreachableError{Err: ErrNoOwner}
	}
	peer := v.peers[i]
	if peer == nil || !peer.Reachable() {
		r.observe(ForwardUnreachable)
		return &UnreachableError{Member: v.memberID(i), Err: ErrNoSession}
	}
	err := peer.Do(ctx, deadline, call, results)
	switch {
	case err == nil:
		r.observe(ForwardOK)
	case errors.Is(err, ErrNotOwner):
		r.observe(ForwardRedirected)
	case errors.Is(err, limiter.ErrFull):
		r.observe(ForwardFull)
	case ctx.Err() != nil:
		r.observe(ForwardCancelled)
		return &UnreachableError{Member: v.memberID(i), Err: err}
	default:
		r.observe(ForwardUnreachable)
		return &UnreachableError{Member: v.memberID(i), Err: err}
	}
	return err
}
