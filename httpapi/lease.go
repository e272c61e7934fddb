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
	acquireNames = []string{"policy", "key", "attributes", "limit", "cost", "ttl_ms"}
	renewNames   = []string{"lease", "ttl_ms"}
	releaseNames = []string{"lease"}
)

// withBody serves calls whose body has been read in full. An error is answered
// as a problem.
func withBody(serve func(w http.ResponseWriter, r *http.Request, x *exchange, body []byte) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := newExchange()
		defer x.release()
		body, err := x.read(w, r)
		if err == nil {
			err = serve(w, r, x, body)
		}
		if err != nil {
			writeProblem(w, problemOf(err))
		}
	}
}

// acquire serves POST /v1/acquire. Nobody renews the lease but the client.
func (a *API) acquire(w http.ResponseWriter, r *http.Request, x *exchange, body []byte) error {
	c, err := decodeAcquire(body)
	if err == nil {
		err = c.complete(a.client.prefixes, a.node.Policies())
	}
	if err != nil {
		return err
	}
	grant, err := a.node.Grant(r.Context(), c.Request)
	if errors.Is(err, policy.ErrInput) {
		return err
	}
	if grant.Token == "" {
		a.writeDecision(w, x, &grant.Decision, statusOf(&grant.Decision), nil)
		return nil
	}
	if r.Context().Err() != nil { // the client has gone, and will not release it
		_, err := a.node.Release(context.WithoutCancel(r.Context()), grant.Token)
		return err
	}
	a.writeDecision(w, x, &grant.Decision, http.StatusOK, leaseFields(&grant))
	return nil
}

// renew serves POST /v1/renew.
func (a *API) renew(w http.ResponseWriter, r *http.Request, x *exchange, body []byte) error {
	token, ttl, err := decodeLease(body, renewNames)
	if err != nil {
		return err
	}
	grant, err := a.node.Renew(r.Context(), token, ttl)
	switch {
	case errors.Is(err, policy.ErrInput):
		return err
	case errors.Is(err, policy.ErrLapsed):
		return newProblem(http.StatusGone, err.Error())
	case err != nil:
		w.Header()["Retry-After"] = []string{"1"}
		return newProblem(http.StatusServiceUnavailable, "not renewed; the lease holds until it expires, so try again before that: "+err.Error())
	}
	a.writeDecision(w, x, &grant.Decision, http.StatusOK, leaseFields(&grant))
	return nil
}

// release serves POST /v1/release. What cannot be released at once is still
// answered with 200: the node goes on trying, and the client has nothing to add.
func (a *API) release(w http.ResponseWriter, r *http.Request, _ *exchange, body []byte) error {
	token, _, err := decodeLease(body, releaseNames)
	if err != nil {
		return err
	}
	released, err := a.node.Release(r.Context(), token)
	if err != nil {
		return err
	}
	writeJSON(w, struct {
		Released bool `json:"released"`
	}{released})
	return nil
}

// leaseFields are what an answer has beside its decision.
func leaseFields(g *policy.Grant) []byte {
	b := appendString(nil, `"lease":`, g.Token)
	return appendMillis(b, `,"expires_in_ms":`, g.TTL.Truncate(time.Millisecond)) // not later than it does
}

// decodeAcquire reads the body of an acquisition.
func decodeAcquire(data []byte) (checkRequest, error) {
	r, err := newReader(data)
	if err != nil {
		return checkRequest{}, err
	}
	c, err := r.check(acquireNames)
	if err == nil && c.free {
		err = fault("cost", "must be at least 1: whoever has a slot is not free")
	}
	return c, err
}

// decodeLease reads a body that names a lease.
func decodeLease(data []byte, names []string) (token string, ttl time.Duration, err error) {
	r, err := newReader(data)
	if err != nil {
		return "", 0, err
	}
	err = r.object(names, func(name string) (err error) {
		if name == "lease" {
			token, err = r.text(name)
		} else {
			ttl, err = r.ttl(name)
		}
		return err
	})
	if err == nil && token == "" {
		err = fault("lease", "is required: what the answer to /v1/acquire called so")
	}
	return token, ttl, err
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
