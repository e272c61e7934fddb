package httpapi

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// Option changes what a [Middleware] does.
type Option func(*settings)

// settings are the options of one middleware.
type settings struct {
	named   bool // only the policy of this name
	policy  string
	located bool // by address
	address *ClientAddress
	attr    func(r *http.Request, name string) string
	cost    func(*http.Request) int64
	after   CostAfter
	look    bool // nothing is charged beforehand
	skip    func(*http.Request) bool
	denied  http.Handler
	mode    *policy.Unreachable
	wait    time.Duration // for a slot
	fields  Fields
	log     *slog.Logger
}

func newSettings(opts []Option) settings {
	s := settings{
		fields: Fields{Dialects: []Dialect{IETF, Legacy}},
		log:    slog.New(slog.DiscardHandler),
	}
	for _, opt := range opts {
		if opt != nil {
			opt(&s)
		}
	}
	return s
}

// fault says what to change in the settings, or nothing.
func (s *settings) fault() string {
	switch {
	case s.named && s.policy == "":
		return "WithPolicy must name a policy; without it every policy applies that matches"
	case s.look && s.after == nil:
		return "WithoutEstimate goes with WithCostAfter; without that nothing would ever be charged"
	case s.located && s.address == nil:
		return "WithClientAddress needs the result of NewClientAddress; was its error looked at?"
	}
	if s.wait < 0 {
		return "WithConcurrency needs the time that a request may wait, which is not negative"
	}
	if s.mode != nil {
		if _, known := policy.ParseUnreachable(s.mode.String()); !known {
			return "WithFailureMode needs policy.Local, policy.Allow or policy.Deny"
		}
	}
	if err := s.fields.Validate(); err != nil {
		return err.Error()
	}
	return ""
}

// WithPolicy applies the policy of the given name and no other, whether it
// matches the request or not; what it exempts stays exempt. Without it every
// policy of the node applies that matches the request.
func WithPolicy(name string) Option {
	return func(s *settings) { s.named, s.policy = true, name }
}

// WithClientAddress gives requests the address that a finds, for policies that
// look at it. Without it they have none: no network holds them, and policies
// with the key ip count all of them together.
func WithClientAddress(a *ClientAddress) Option {
	return func(s *settings) { s.located, s.address = true, a }
}

// WithAttributes gives requests the attributes that attr knows of them by
// name, such as the plan of the user that the application authenticated, for
// policies that look at attr:NAME. Empty: the request does not have it. attr
// must be safe for concurrent use. Nil: requests have none.
func WithAttributes(attr func(r *http.Request, name string) string) Option {
	return func(s *settings) { s.attr = attr }
}

// WithCost charges each request what cost returns instead of what the policy
// says. 0 is free: the request passes unchecked, and its answer tells
// nothing of limits. A negative cost is a fault of the program and answered
// with 500. cost must be safe for concurrent use and should not read the
// body. Nil: the policy's default.
func WithCost(cost func(*http.Request) int64) Option {
	return func(s *settings) { s.cost = cost }
}

// WithCostAfter charges each request what cost returns once the handler is
// done with it. What is charged before, the policy's cost or that of
// [WithCost], is an estimate: the difference is charged, whatever the limits
// say, or given back. So to count failures only is
//
//	httpapi.WithCostAfter(func(status int, _ http.Header, _ int64, _ time.Duration) int64 {
//		if status >= 400 {
//			return 1
//		}
//		return 0
//	})
//
// with as many attempts at one time as the limit has units. All policies that
// apply are charged the same, so name the one whose units these are
// ([WithPolicy]), and let others have a middleware of their own.
//
// A request that is not served although it was admitted, because its turn
// came too late, costs nothing. Of a handler that panics the status is 500, if
// it has not sent another. A negative cost is a fault of the program: it is
// logged, and the estimate stays.
//
// The node has to be a [Settler]. The ResponseWriter that the handler gets is
// an http.Flusher, an io.ReaderFrom, an http.Hijacker if the server's is, and
// has Unwrap for http.ResponseController. What goes over a hijacked connection
// is not counted. cost must be safe for concurrent use. Nil: costs are known
// before.
func WithCostAfter(cost CostAfter) Option {
	return func(s *settings) { s.after = cost }
}

// WithoutEstimate charges nothing before [WithCostAfter] does. A request is
// admitted if its estimate would be, so that of many at one time all can be,
// and the limit then owes what they have cost.
func WithoutEstimate() Option {
	return func(s *settings) { s.look = true }
}

// WithSkip lets the requests pass unchecked for which skip returns true, such
// as health checks. It must be safe for concurrent use. Nil: none.
func WithSkip(skip func(*http.Request) bool) Option {
	return func(s *settings) { s.skip = skip }
}

// WithDenied has h answer denied requests instead of the problem that the
// middleware writes. The RateLimit fields, Retry-After and Cache-Control are
// set already, the status is h's to choose, and [DecisionFrom] tells who
// denied. Nil: the problem.
func WithDenied(h http.Handler) Option {
	return func(s *settings) { s.denied = h }
}

// WithFailureMode says what happens while the node that counts cannot be
// asked, in place of what the policies say.
func WithFailureMode(mode policy.Unreachable) Option {
	return func(s *settings) { s.mode = &mode }
}

// WithConcurrency lets requests that a concurrency limit has no slot for wait
// for one, up to the given time, instead of denying them at once. Those who
// wait on one node under the same policies and keys are served in the order in
// which they came, and a request that leaves gives up its place. 0: none waits.
//
// With or without this option a policy's concurrency limits apply: a request
// has its slots until its handler has returned, panics included, and however
// long it takes, as the node renews them. Should they be lost all the same (the
// node that counts was out of reach for longer than the limit's ttl) the handler
// goes on: it is at it, whatever is counted. A handler that hijacks its
// connection gives the slots back when it returns.
func WithConcurrency(wait time.Duration) Option {
	return func(s *settings) { s.wait = wait }
}

// WithDialects chooses the fields that tell clients about their limits.
// None: only Retry-After on denials. Without this option they are IETF and
// Legacy.
func WithDialects(dialects ...Dialect) Option {
	return func(s *settings) { s.fields.Dialects = dialects }
}

// WithRetryAfterDate writes Retry-After as a date instead of seconds.
func WithRetryAfterDate() Option {
	return func(s *settings) { s.fields.RetryAfterDate = true }
}

// WithJitter makes Retry-After longer by a random part of itself, up to
// fraction: 0 to MaxJitter. It keeps clients that were denied together from
// coming back together.
func WithJitter(fraction float64) Option {
	return func(s *settings) { s.fields.Jitter = fraction }
}

// WithLogger tells log what is wrong with how the middleware is used, the
// first time that it matters. Keys never appear in it. Denials are not
// logged, and outages by the node. Nil: nothing is logged.
func WithLogger(log *slog.Logger) Option {
	return func(s *settings) {
		if log != nil {
			s.log = log
		}
	}
}
