package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
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

// ErrOverridesFull is the error of an Overrides that has as many as it can keep.
var ErrOverridesFull = errors.New("no room for another override")

// Overrides are the overrides that are set while the policies are in force. A
// key may be its fingerprint. An error that is policy.ErrInput or
// ErrOverridesFull means that nothing was done; after another one nothing is
// known to be done. It is safe for concurrent use.
type Overrides interface {
	// SetOverride puts o, without Key and KeyPrefix, in the place of what the
	// key had, for expiresIn or, if that is 0, until it is removed.
	SetOverride(policyName, key string, o policy.Override, expiresIn time.Duration) (RuntimeOverride, error)
	// Override is the one in force, if there is one.
	Override(policyName, key string) (RuntimeOverride, bool, error)
	// RemoveOverride reports whether there was one.
	RemoveOverride(policyName, key string) (bool, error)
	// Overrides are all that are kept, by policy and then by fingerprint: those
	// of policies that are not there (any more) too.
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
	InForce     bool               `json:"in_force"`
	ExpiresInMS int64              `json:"expires_in_ms,omitempty"` // 0: never
	SetOn       string             `json:"set_on"`
	Warnings    []string           `json:"warnings,omitempty"` // of one that was just set
}

func shownOverride(o *RuntimeOverride, set *policy.Set) overrideJSON {
	return overrideJSON{
		Policy:      o.Policy,
		Fingerprint: o.Subject.String(),
		Limits:      specsOf(o.Override.Limits),
		Unlimited:   o.Override.Unlimited,
		Blocked:     o.Override.Blocked,
		InForce:     inForce(o, set),
		ExpiresInMS: ceil(o.Expires, time.Millisecond),
		SetOn:       o.Node,
	}
}

// inForce reports whether o does something: its policy is there and, if it has
// limits, one of them.
func inForce(o *RuntimeOverride, set *policy.Set) bool {
	p, err := set.Policy(o.Policy)
	if err != nil {
		return false
	}
	return o.Override.Unlimited || o.Override.Blocked || slices.ContainsFunc(o.Override.Limits, func(l limiter.Limit) bool {
		return p.LimitNamed(l.Name) != nil
	})
}

// listOverrides serves GET /v1/overrides.
func (a *API) listOverrides(w http.ResponseWriter, r *http.Request) {
	name, all, set := r.URL.Query().Get("policy"), a.overrides.Overrides(), a.node.Policies()
	answer := struct {
		Overrides []overrideJSON `json:"overrides"`
	}{[]overrideJSON{}}
	for i := range all {
		if name == "" || name == all[i].Policy {
			answer.Overrides = append(answer.Overrides, shownOverride(&all[i], set))
		}
	}
	if name != "" && len(answer.Overrides) == 0 { // a policy that is gone may have some yet
		if _, err := set.Policy(name); err != nil {
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
	writeJSON(w, shownOverride(&o, a.node.Policies()))
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
	set := a.node.Policies()
	wanted, ok := decodeBody(x, w, r, func(body []byte) (overrideRequest, error) { return decodeOverride(body, set, name) })
	if !ok {
		return
	}
	o, err := a.overrides.SetOverride(name, key, wanted.Override, wanted.expiresIn)
	if err != nil {
		a.overrideFailed(w, name, "not set", err)
		return
	}
	wanted.Key = key
	answer := shownOverride(&o, set)
	answer.Warnings = set.OverrideWarnings(name, &wanted.Override, policy.AddressBits{IPv4: a.client.prefixes.ipv4, IPv6: a.client.prefixes.ipv6})
	a.logOverride(&o, answer.Warnings)
	writeJSON(w, answer)
}

// logOverride says that o was set, and what it likely does not mean.
func (a *API) logOverride(o *RuntimeOverride, warnings []string) {
	attributes := []any{"policy", o.Policy, "fingerprint", o.Subject.String()}
	for _, warning := range warnings {
		a.log.Warn("override may not do what is meant", slices.Concat(attributes, []any{"warning", warning})...)
	}
	if o.Expires > 0 {
		attributes = append(attributes, "expires_in", o.Expires)
	}
	a.log.Info("override set", attributes...)
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
		writeJSON(w, shownOverride(&o, a.node.Policies()))
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
	status := http.StatusServiceUnavailable
	if errors.Is(err, ErrOverridesFull) {
		status = http.StatusInsufficientStorage // RFC 4918, section 11.5: not to be tried again by itself
	}
	writeProblem(w, newProblem(status, what+": "+err.Error()))
}
