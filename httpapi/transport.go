package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// Defaults of a [Transport].
const (
	DefaultRetries = 2
	DefaultMaxWait = time.Minute
)

// maxDrain is how much of an answer that nobody gets is read, and for how long
// at most, so that its connection can be used again.
const (
	maxDrain     = 4 << 10
	maxDrainTime = 100 * time.Millisecond
)

// Waiter lets calls pass at the rate of a limit. It is safe for concurrent
// use. A *murmurate.Node is one.
type Waiter interface {
	// Wait blocks until the policy admits a call of key, and charges it. The
	// error is nil exactly if it did; otherwise ctx ended, or the call can
	// never be admitted.
	Wait(ctx context.Context, policyName, key string) (policy.Decision, error)
}

// Transport keeps outgoing calls within limits: our own, and those of the
// other side. A request is sent when Node admits it. If it is answered with
// 429 or 503 and Retry-After (RFC 9110, section 10.2.3), later requests with
// the same key are held back until then, and this one is sent again, if it
// can be: if it has no body, or a GetBody that makes another one.
//
// All waiting is bounded by the request's context and by MaxWait. A longer
// Retry-After is returned as the answer that it is, as is the one after the
// last attempt, or when there is no time left to send again. A request that
// would be held longer before it is first sent fails with a [*HeldError].
// Nobody is held for more than an hour after one answer, whatever it says:
// then a request is sent to see.
//
// The zero value sends with http.DefaultTransport, has no limit of its own and
// honours Retry-After. A Transport is safe for concurrent use, but not for
// copying, and its fields must not change once it is used.
type Transport struct {
	// Node has our own limits. Nil: there is none.
	Node Waiter
	// Policy names Node's policy for these calls.
	Policy string
	// Key says which limit a request belongs to, ours and the other side's.
	// Nil: the host and port of its URL. It must be safe for concurrent use.
	Key func(*http.Request) string
	// Base sends. Nil: http.DefaultTransport.
	Base http.RoundTripper
	// Retries is how often a refused request is sent again at most. 0:
	// DefaultRetries. Negative: never.
	Retries int
	// MaxWait bounds how long a request is held in all, the time it is under
	// way not counted. 0: DefaultMaxWait. Negative: it is never held. Node has
	// a tenth of a second to answer in any case.
	MaxWait time.Duration

	holds holds
}

// RoundTrip sends r when its turn has come. See [Transport].
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.check(r); err != nil {
		closeBody(r)
		return nil, err
	}
	wait := waiting{transport: t, key: t.key(r), left: t.maxWait()}
	if err := wait.turn(r.Context()); err != nil {
		closeBody(r)
		return nil, err
	}
	for attempt, send := 0, r; ; attempt++ {
		answer, err := t.base().RoundTrip(send)
		if err != nil {
			return nil, err
		}
		pause, refused := retryAfterOf(answer, time.Now())
		if !refused {
			return answer, nil
		}
		t.holds.set(wait.key, time.Now(), pause)
		if attempt >= t.retries() || !wait.bears(r.Context(), pause) {
			return answer, nil
		}
		if send, err = again(r); err != nil {
			return answer, nil //nolint:nilerr // what cannot be sent again has its answer
		}
		if err := wait.turn(r.Context()); err != nil {
			return keep(r.Context(), answer, send, err)
		}
		discard(answer)
	}
}

// keep returns the answer to a request that is not sent again for want of
// time, unless its caller has left.
func keep(ctx context.Context, answer *http.Response, send *http.Request, err error) (*http.Response, error) {
	closeBody(send)
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		_ = answer.Body.Close()
		return nil, err
	}
	return answer, nil
}

// CloseIdleConnections closes those of Base, if it can. It is what
// [http.Client.CloseIdleConnections] calls.
func (t *Transport) CloseIdleConnections() {
	if base, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// check reports what is wrong with how the Transport is used.
func (t *Transport) check(r *http.Request) error {
	switch {
	case r.URL == nil:
		return errors.New("httpapi: the request has no URL")
	case t.Node != nil && missing(t.Node):
		return errors.New("httpapi: Transport.Node is a nil pointer; was the error of murmurate.Start looked at?")
	}
	return nil
}

func (t *Transport) key(r *http.Request) string {
	if t.Key != nil {
		return t.Key(r)
	}
	return strings.ToLower(r.URL.Host)
}

func (t *Transport) base() http.RoundTripper {
	if t.Base != nil {
		return t.Base
	}
	return http.DefaultTransport
}

func (t *Transport) retries() int {
	if t.Retries == 0 {
		return DefaultRetries
	}
	return t.Retries
}

func (t *Transport) maxWait() time.Duration {
	if t.MaxWait == 0 {
		return DefaultMaxWait
	}
	return max(t.MaxWait, 0)
}

// errNoBody says that a request cannot be sent twice.
var errNoBody = errors.New("the body is gone")

// again is r with a new body. r itself stays as it is.
func again(r *http.Request) (*http.Request, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, nil
	}
	if r.GetBody == nil {
		return nil, errNoBody
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoBody, err)
	}
	next := r.WithContext(r.Context())
	next.Body = body
	return next, nil
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// discard reads what little there is of an answer and lets go of it.
func discard(answer *http.Response) {
	late := time.AfterFunc(maxDrainTime, func() { _ = answer.Body.Close() })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, answer.Body, maxDrain)
	_ = answer.Body.Close()
}
