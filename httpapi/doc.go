// Package httpapi is the HTTP front door of a node: JSON in, a decision and
// the header fields that a client should see out. For Go programs it has a
// [Middleware] around their handlers and a [Transport] for their calls.
//
// A POST /v1/check is read into pooled memory, judged as JSON by
// encoding/json, walked once by a strict reader that knows the names of the
// fields, and becomes a [policy.Request], with the attributes of the request
// that it is about if it has them. The [Node] decides it. The decision
// gives the status (200, that of the policy's denials, or 503), the RateLimit fields of the dialects
// that are on, Retry-After ([Fields] says in which form), and the body, which
// is appended to pooled memory too. A batch is the same for each of its items.
// ANY /gateway asks the same for reverse proxies: the request in question is
// put together from the head of theirs, and the status alone is the answer.
// /v1/acquire, /v1/renew and /v1/release do so for whoever takes time: they are
// about slots, which a lease has until it is released or lapses.
// POST /v1/settle charges what a check with a receipt has really cost.
// The other endpoints look at counters, reset them, set [Overrides] of single
// keys, and show policies, cluster, health and metrics.
//
// [ClientAddress] finds who sent a request, for those who key limits by
// address: the peer, or whom trusted proxies name, and never whom the client
// names.
//
// A request that comes through a Middleware is told apart by its [Key]. The
// [Checker] decides it under every policy that matches, or the one named, and the
// same fields are set as above. Admitted, it waits for the turn that a leaky
// bucket gives it and reaches the handler, with the decision in its context.
// The ResponseWriter is untouched, unless the cost is only known afterwards
// ([WithCostAfter]): then the check before gives a receipt, and the node settles
// it when the handler is done. Denied, it is answered with a problem. A
// Transport waits for its own limit before it sends, and for as long as the
// other side asks with Retry-After.
//
// Whatever a client sends is answered: a body that is not understood in full
// (an unknown field, one given twice, a fraction where a whole number
// belongs) is refused with a problem (RFC 9457) that names the field, and
// charges nothing. Names are case-sensitive. What was decided is never
// cached. A Middleware that is used wrongly answers with 500 and says what to
// change; it lets nobody pass.
//
// Not here: TLS, listening, and authentication of those who only check;
// whoever reaches the port may check. Only administration asks for a token.
package httpapi
