package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

var (
	acquireNames = []string{"policy", "key", "attributes", "limit", "cost", "receipt", "ttl_ms"}
	renewNames   = []string{"lease", "ttl_ms"}
	releaseNames = []string{"lease"}
)

// acquire serves POST /v1/acquire. Nobody renews the lease but the client.
func (a *API) acquire(w http.ResponseWriter, r *http.Request) {
	x := newExchange()
	defer x.release()
	c, ok := a.readCheck(x, w, r, decodeAcquire)
	if !ok {
		return
	}
	grant, err := a.node.Grant(r.Context(), c.Request)
	c.asAsked(&grant.Decision)
	switch {
	case errors.Is(err, policy.ErrInput):
		writeProblem(w, problemOf(err))
	case grant.Token == "":
		a.writeDecision(w, x, &grant.Decision, statusOf(&grant.Decision), nil)
	case r.Context().Err() != nil: // the client has gone, and will not release it
		_, _ = a.node.Release(context.WithoutCancel(r.Context()), grant.Token) // the token is sound
	default:
		a.writeDecision(w, x, &grant.Decision, http.StatusOK, leaseFields(&grant))
	}
}

// renew serves POST /v1/renew.
func (a *API) renew(w http.ResponseWriter, r *http.Request) {
	x := newExchange()
	defer x.release()
	l, ok := decodeBody(x, w, r, decodeRenewal)
	if !ok {
		return
	}
	grant, err := a.node.Renew(r.Context(), l.token, l.ttl)
	switch {
	case err == nil:
		a.writeDecision(w, x, &grant.Decision, http.StatusOK, leaseFields(&grant))
	case errors.Is(err, policy.ErrInput):
		writeProblem(w, problemOf(err))
	case errors.Is(err, policy.ErrLapsed):
		writeProblem(w, newProblem(http.StatusGone, err.Error()))
	default:
		w.Header()["Retry-After"] = []string{"1"}
		writeProblem(w, newProblem(http.StatusServiceUnavailable, "not renewed; the lease holds until it expires, so try again before that: "+err.Error()))
	}
}

// release serves POST /v1/release. What cannot be released at once is still
// answered with 200: the node goes on trying, and the client has nothing to add.
func (a *API) release(w http.ResponseWriter, r *http.Request) {
	x := newExchange()
	defer x.release()
	l, ok := decodeBody(x, w, r, decodeRelease)
	if !ok {
		return
	}
	released, err := a.node.Release(r.Context(), l.token)
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	writeJSON(w, struct {
		Released bool `json:"released"`
	}{released})
}

// leaseFields are what an answer has beside its decision.
func leaseFields(g *policy.Grant) []byte {
	b := appendString(nil, `"lease":`, g.Token)
	return appendMillis(b, `,"expires_in_ms":`, g.TTL.Truncate(time.Millisecond)) // not later than it does
}

// decodeAcquire reads the body of an acquisition. At a cost of 0 the slot is
// all that there is, until a receipt is settled.
func decodeAcquire(data []byte) (checkRequest, error) {
	r, err := newReader(data)
	if err != nil {
		return checkRequest{}, err
	}
	c, err := r.check(acquireNames)
	if err == nil && c.free && !c.Receipt {
		err = fault("cost", "must be at least 1, or be settled with a receipt: whoever has a slot is not free")
	}
	return c, err
}

// leaseCall is a call about a lease.
type leaseCall struct {
	token string
	ttl   time.Duration // 0: as before
}

func decodeRenewal(data []byte) (leaseCall, error) { return decodeLease(data, renewNames) }

func decodeRelease(data []byte) (leaseCall, error) { return decodeLease(data, releaseNames) }

// decodeLease reads a body that names a lease.
func decodeLease(data []byte, names []string) (l leaseCall, err error) {
	r, err := newReader(data)
	if err != nil {
		return l, err
	}
	err = r.object(names, func(name string) (err error) {
		if name == "lease" {
			l.token, err = r.text(name)
		} else {
			l.ttl, err = r.ttl(name)
		}
		return err
	})
	if err == nil && l.token == "" {
		err = fault("lease", "is required: what the answer to /v1/acquire called so")
	}
	return l, err
}

// ttl reads a time in ms. What is longer than any may be stays so.
func (r *reader) ttl(field string) (time.Duration, error) {
	ms, err := r.integer(field)
	if err != nil {
		return 0, err
	}
	if ms < 1 {
		return 0, fault(field, fmt.Sprintf("must be at least 1, got %d", ms))
	}
	return time.Duration(min(ms, limiter.MaxTTL.Milliseconds()+1)) * time.Millisecond, nil
}
