package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// keyPath matches the key with its slashes: of those that are escaped the
// mux makes slashes anyway, and subject refuses the others.
const keyPath = "/v1/keys/{policy}/{key...}"

// tierQuery is the parameter that says which tier of the policy the key is in.
const tierQuery = "tier"

// subject is the policy and key that the path of r names.
func subject(r *http.Request) (policyName, key string, err error) {
	if strings.Count(r.URL.EscapedPath(), "/") > strings.Count(keyPath, "/") {
		return "", "", fault("key", "must have its slashes escaped as %2F")
	}
	return r.PathValue("policy"), r.PathValue("key"), nil
}

// peekKey serves GET /v1/keys/{policy}/{key}. A key with nothing left is
// still found, so that is no denial.
func (a *API) peekKey(w http.ResponseWriter, r *http.Request) {
	name, key, err := subject(r)
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	tier, err := tierOf(r)
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	d, err := a.look(r.Context(), name, key, tier)
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	a.writeKey(w, &d, a.tierFields(name, tier))
}

// tierOf is the tier that r asks for, empty if it does not.
func tierOf(r *http.Request) (string, error) {
	switch values, given := r.URL.Query()[tierQuery]; {
	case !given:
		return "", nil
	case len(values) == 1 && values[0] != "":
		return values[0], nil
	}
	return "", fault(tierQuery, "must be the name of a tier, once, or left out")
}

// tierFields say which tier was looked at, or which ones there are if none was.
func (a *API) tierFields(policyName, tier string) []byte {
	if tier != "" {
		return appendString(nil, `,"tier":`, tier)
	}
	p, err := a.node.Policies().Policy(policyName)
	if err != nil || len(p.Tiers.Sets) == 0 {
		return nil
	}
	names, _ := json.Marshal(p.TierNames()) // strings cannot fail
	return append([]byte(`,"tiers":`), names...)
}

// look is what a check would see of the counters that key may mean: of each limit
// the one of which most is used. The error is a policy.ErrInput.
func (a *API) look(ctx context.Context, policyName, key, tier string) (policy.Decision, error) {
	keys, err := a.node.Policies().LookupKeys(policyName, key)
	if err != nil {
		return policy.Decision{}, err
	}
	looks := make([]policy.Request, len(keys))
	for i, key := range keys {
		looks[i] = policy.Request{Policy: policyName, Key: key, Tier: tier, Peek: true}
	}
	seen := make([]policy.Decision, len(keys))
	for i, outcome := range a.node.CheckAll(ctx, looks) {
		if errors.Is(outcome.Err, policy.ErrInput) {
			return policy.Decision{}, outcome.Err
		}
		seen[i] = outcome.Decision
	}
	return policy.MostUsed(seen[0], seen[1:]...), nil
}

// resetKey serves DELETE /v1/keys/{policy}/{key}.
func (a *API) resetKey(w http.ResponseWriter, r *http.Request) {
	name, key, err := subject(r)
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	if r.URL.Query().Has(tierQuery) {
		writeProblem(w, problemOf(fault(tierQuery, "is of GET: what is reset is the counters of the policy's own limits")))
		return
	}
	d, err := a.node.Reset(r.Context(), name, key)
	switch {
	case errors.Is(err, policy.ErrInput):
		writeProblem(w, problemOf(err))
	case err != nil:
		a.log.Warn("counters not reset", "policy", name, "error", err)
		writeProblem(w, newProblem(http.StatusServiceUnavailable, "not reset: "+err.Error()))
	default:
		a.log.Info("counters reset", "policy", name)
		a.writeKey(w, &d, nil)
	}
}

// writeKey answers with d and, after its fields, others.
func (a *API) writeKey(w http.ResponseWriter, d *policy.Decision, others []byte) {
	status := http.StatusOK
	if uncounted(d.Source) { // its numbers are nobody's
		status = http.StatusServiceUnavailable
	}
	x := newExchange()
	defer x.release()
	a.writeDecisionHead(w, d, status)
	now := time.Now()
	x.answer = appendDecisionWith(x.answer, d, true, func(b []byte, l *policy.LimitResult) []byte { return appendCounter(b, l, now) })
	x.answer = append(append(x.answer[:len(x.answer)-1], others...), '}', '\n')
	_, _ = w.Write(x.answer) // the client has gone: nobody to tell
}

// appendCounter is appendLimit with what l says of its counter as of now: how
// much is used and, if it counts in windows, when that one ends.
func appendCounter(b []byte, l *policy.LimitResult, now time.Time) []byte {
	b = appendLimit(b, l)
	b = appendString(b[:len(b)-1], `,"algorithm":`, l.Algorithm.String())
	if used, ok := l.Used(); ok {
		b = appendInt(b, `,"used":`, used)
		if at, ok := l.Resets(now); ok {
			b = appendString(b, `,"resets_at":`, shownReset(at, l.Zone))
		}
	}
	return append(b, '}')
}

// shownReset is the end of a window. Those of the calendar end on a whole second,
// and the time that the owner's answer took is far less than one.
func shownReset(at time.Time, zone *time.Location) string {
	return at.Round(time.Second).In(cmp.Or(zone, time.UTC)).Format(time.RFC3339)
}
