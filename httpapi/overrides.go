package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

const (
	overridesPath = "/v1/overrides"
	// overridePath is as keyPath, with as many slashes.
	overridePath = overridesPath + "/{policy}/{key...}"
	// maxExpiry bounds how long an override may last that does not last for ever.
	maxExpiry = limiter.MaxPeriod
)

// Overrides are the overrides that are set while the policies are in force. A
// key may be its fingerprint. An error that is policy.ErrInput means that
// nothing was done; after another one nothing is known to be done. It is safe
// for concurrent use.
type Overrides interface {
	// SetOverride puts o, without Key and KeyPrefix, in the place of what the
	// key had, for expiresIn or, if that is 0, until it is removed.
	SetOverride(policyName, key string, o policy.Override, expiresIn time.Duration) (RuntimeOverride, error)
	// Override is the one in force, if there is one.
	Override(policyName, key string) (RuntimeOverride, bool, error)
	// RemoveOverride reports whether there was one.
	RemoveOverride(policyName, key string) (bool, error)
	// Overrides are all that are in force, by policy and then by fingerprint.
	Overrides() []RuntimeOverride
}

// RuntimeOverride is an override that was set at run time.
type RuntimeOverride struct {
	// Policy is the policy's name.
	Policy string
	// Subject is the fingerprint of the key.
	Subject limiter.Subject
	// Override is what the key has. Its Key and KeyPrefix are empty.
	Override policy.Override
	// Expires is how long it is still in force. 0: until it is removed.
	Expires time.Duration
	// Node is the id of the node that it was set on.
	Node string
}

// overrideJSON is a RuntimeOverride in answers.
type overrideJSON struct {
	Policy      string             `json:"policy"`
	Fingerprint string             `json:"fingerprint"`
	Limits      []policy.LimitSpec `json:"limits,omitempty"`
	Unlimited   bool               `json:"unlimited"`
	Blocked     bool               `json:"blocked"`
	ExpiresInMS int64              `json:"expires_in_ms,omitempty"` // 0: never
	SetOn       string             `json:"set_on"`
}

func shownOverride(o *RuntimeOverride) overrideJSON {
	return overrideJSON{
		Policy:      o.Policy,
		Fingerprint: o.Subject.String(),
		Limits:      specsOf(o.Override.Limits),
		Unlimited:   o.Override.Unlimited,
		Blocked:     o.Override.Blocked,
		ExpiresInMS: ceil(o.Expires, time.Millisecond),
		SetOn:       o.Node,
	}
}

// listOverrides serves GET /v1/overrides.
func (a *API) listOverrides(w http.ResponseWriter, r *http.Request) {
	name, all := r.URL.Query().Get("policy"), a.overrides.Overrides()
	answer := struct {
		Overrides []overrideJSON `json:"overrides"`
	}{[]overrideJSON{}}
	for i := range all {
		if name == "" || name == all[i].Policy {
			answer.Overrides = append(answer.Overrides, shownOverride(&all[i]))
		}
	}
	if name != "" && len(answer.Overrides) == 0 { // a policy that is gone may have some yet
		if _, err := a.node.Policies().Policy(name); err != nil {
			writeProblem(w, problemOf(err))
			return
		}
	}
	writeJSON(w, answer)
}

// getOverride serves GET /v1/overrides/{policy}/{key}.
func (a *API) getOverride(w http.ResponseWriter, r *http.Request) {
	_, _, o, err := a.overrideOf(r)
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	writeJSON(w, shownOverride(&o))
}

// setOverride serves PUT /v1/overrides/{policy}/{key}.
func (a *API) setOverride(w http.ResponseWriter, r *http.Request) {
	name, key, err := overrideSubject(r)
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	x := newExchange()
	defer x.release()
	wanted, ok := decodeBody(x, w, r, func(body []byte) (overrideRequest, error) {
		return decodeOverride(body, a.node.Policies(), name)
	})
	if !ok {
		return
	}
	o, err := a.overrides.SetOverride(name, key, wanted.Override, wanted.expiresIn)
	if err != nil {
		a.overrideFailed(w, name, "not set", err)
		return
	}
	a.log.Info("override set", "policy", o.Policy, "fingerprint", o.Subject.String(), "expires_in", o.Expires)
	writeJSON(w, shownOverride(&o))
}

// removeOverride serves DELETE /v1/overrides/{policy}/{key}, and answers with
// what it has removed.
func (a *API) removeOverride(w http.ResponseWriter, r *http.Request) {
	name, key, o, err := a.overrideOf(r)
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	switch removed, err := a.overrides.RemoveOverride(name, key); {
	case err != nil:
		a.overrideFailed(w, name, "not removed", err)
	case !removed: // somebody else was quicker
		writeProblem(w, noOverride(name))
	default:
		a.log.Info("override removed", "policy", o.Policy, "fingerprint", o.Subject.String())
		writeJSON(w, shownOverride(&o))
	}
}

// overrideSubject is the policy and key that the path of r names.
func overrideSubject(r *http.Request) (policyName, key string, err error) {
	if policyName, key, err = subject(r); err == nil {
		err = policy.CheckLookup(key)
	}
	return policyName, key, err
}

// overrideOf is the override that the path of r names, with that policy and
// key.
func (a *API) overrideOf(r *http.Request) (policyName, key string, o RuntimeOverride, err error) {
	if policyName, key, err = overrideSubject(r); err != nil {
		return "", "", o, err
	}
	o, found, err := a.overrides.Override(policyName, key)
	if err == nil && !found {
		err = noOverride(policyName)
	}
	return policyName, key, o, err
}

func noOverride(policyName string) *problem {
	return newProblem(http.StatusNotFound, fmt.Sprintf(
		"no override is set at run time for that key in policy %q; GET %s lists all", clip(policyName), overridesPath))
}

// overrideFailed answers for an override that was not set, or not removed.
func (a *API) overrideFailed(w http.ResponseWriter, policyName, what string, err error) {
	if errors.Is(err, policy.ErrInput) {
		writeProblem(w, problemOf(joined(bodyFaults(err))))
		return
	}
	a.log.Warn("override "+what, "policy", policyName, "error", err)
	writeProblem(w, newProblem(http.StatusServiceUnavailable, what+": "+err.Error()))
}
