package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

const (
	// gatewayPath is where gateways ask.
	gatewayPath = "/gateway"
	// gatewayBound is how long a gateway waits for other nodes, at most. A
	// client of the gateway's waits with it, and the usual timeouts of
	// gateways for such a question begin at 20 ms.
	gatewayBound = 15 * time.Millisecond
	// gatewayStatus is the field that tells a gateway what the status does
	// not.
	gatewayStatus = "X-Ratelimit-Status"
	// degraded is its value for what was admitted without the counters.
	degraded = "degraded"
	// denyStatus is the parameter that gives denials another status, 403.
	denyStatus = "deny_status"
)

// gatewayFirst takes the requests for gateways out before next sees them. In
// the prefix form the rest of the path is that of the client's request, and a
// ServeMux would have it cleaned.
func (a *API) gatewayFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.EscapedPath(); path == gatewayPath || strings.HasPrefix(path, gatewayPath+"/") {
			a.gateway(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// gateway serves ANY /gateway and below: a reverse proxy asks before it lets a
// request of its client through, with that request's head. It is charged by
// every policy that matches, and what is without a key of its own by the
// client's address. Neither the decision nor the answer waits for a body.
func (a *API) gateway(w http.ResponseWriter, r *http.Request) { answerFirst(w, r, a.decideForGateway) }

func (a *API) decideForGateway(w http.ResponseWriter, r *http.Request) {
	original := newOriginalRequest(r, a.client)
	disguised, err := wantsDisguise(r.URL, original.rawQuery)
	if err != nil {
		refuse(w, r, problemOf(err))
		return
	}
	a.unheeded.note(r)
	ctx, cancel := context.WithTimeout(r.Context(), gatewayBound)
	defer cancel()
	d, err := a.node.Check(ctx, policy.Request{
		Attributes: original,
		DefaultKey: policy.JoinKey(policy.KeyPart{Kind: policy.KeyIP, Value: original.ipKey}),
	})
	if errors.Is(err, policy.ErrInput) {
		refuse(w, r, problemOf(err))
		return
	}
	a.answerGateway(w, r, &d, disguised)
}

// wantsDisguise reports whether denials shall have status 403, because the
// gateway passes on no other (auth_request of nginx). The client has no say in
// this: in the prefix form the query is the client's, and so it is where the
// gateway sends the query that it got along with the target that it got.
func wantsDisguise(u *url.URL, clients string) (bool, error) {
	const wanted = denyStatus + "=403"
	switch {
	case u.RawQuery == "" || u.EscapedPath() != gatewayPath:
		return false, nil
	case u.RawQuery == wanted: // that a client can say so too changes no decision
		return true, nil
	case u.RawQuery == clients:
		return false, nil
	}
	return false, &policy.InputError{Field: denyStatus, Detail: "must be 403, once, or left out, and there are no other parameters; " +
		"those of the client's request belong into X-Forwarded-Uri"}
}

// answerGateway answers as the gateway is to answer its client. What could not
// be decided is a 503, or an admission that says so.
func (a *API) answerGateway(w http.ResponseWriter, r *http.Request, d *policy.Decision, disguised bool) {
	h := w.Header()
	limits := shownLimits([]policy.Decision{*d})
	a.fields.writeLimits(h, d.Policy, limits)
	if d.Allowed {
		if isDegraded(d) {
			set(h, gatewayStatus, degraded)
		}
		h["Cache-Control"] = noStore
		h["Content-Length"] = noBytes
		w.WriteHeader(http.StatusOK)
		return
	}
	a.fields.writeRetryAfter(h, limits)
	p := denialOf(d, limits)
	if disguised && !undecided(d) {
		set(h, gatewayStatus, strconv.Itoa(p.Status))
		p.Status = http.StatusForbidden
	}
	refuse(w, r, p)
}

// isDegraded reports whether d was made without the counters of some limit.
func isDegraded(d *policy.Decision) bool {
	return d.Source >= limiter.SourceShare && d.Source != limiter.SourceNone
}
