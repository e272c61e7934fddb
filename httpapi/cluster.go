package httpapi

import (
	"net/http"

	"github.com/murmurate/murmurate/policy"
)

// ClusterStatus is the cluster as one node sees it.
type ClusterStatus struct {
	// Self is the id of the node that answers.
	Self string `json:"self"`
	// Digest identifies the placement: nodes with equal digests agree on
	// every owner.
	Digest string `json:"digest"`
	// Members are all members, this node included.
	Members []MemberStatus `json:"members"`
	// Owner is the id of the owner of the key that was asked for. Empty: no
	// key was asked for.
	Owner string `json:"owner,omitempty"`
	// MadeOwner is that of the key as the policy makes it of a request. Empty:
	// no key was asked for, or the policy makes none of it.
	MadeOwner string `json:"made_owner,omitempty"`
}

// MemberStatus is one member as the answering node sees it.
type MemberStatus struct {
	// ID is the member's stable id.
	ID string `json:"id"`
	// Address is that of its peer port, as host:port.
	Address string `json:"address"`
	// State is joining, active or leaving.
	State string `json:"state"`
	// Reachable is whether the answering node's session to it is up.
	Reachable bool `json:"reachable"`
	// Version is the product version it runs.
	Version string `json:"version"`
	// Owned is the part of all keys that it owns, 0 to 1.
	Owned float64 `json:"owned"`
	// Keys is the number of counters it holds. Nil (null): not known here.
	Keys *int `json:"keys"`
}

func (a *API) clusterStatus(w http.ResponseWriter, r *http.Request) {
	status, err := a.clusterQuery(r)
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	writeJSON(w, status)
}

func (a *API) clusterQuery(r *http.Request) (ClusterStatus, error) {
	query := r.URL.Query()
	name, key := query.Get("policy"), query.Get("key")
	switch {
	case query.Has("policy") && !query.Has("key"):
		return ClusterStatus{}, fault("key", "must be given beside policy: the owner depends on both")
	case query.Has("key") && name == "":
		return ClusterStatus{}, fault("policy", "must be given beside key: the owner depends on both")
	case query.Has("key"):
		if err := policy.CheckKey(key); err != nil {
			return ClusterStatus{}, err
		}
	}
	status, err := a.cluster(name, key)
	if err != nil || key == "" {
		return status, err
	}
	status.MadeOwner, err = a.madeOwner(name, key)
	return status, err
}

// madeOwner is the owner of key as the named policy makes it, if it does.
func (a *API) madeOwner(policyName, key string) (string, error) {
	keys, err := a.node.Policies().LookupKeys(policyName, key)
	if err != nil || len(keys) < 2 {
		return "", err
	}
	status, err := a.cluster(policyName, keys[1])
	return status.Owner, err
}
