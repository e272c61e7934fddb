package main

import (
	"fmt"
	"strings"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/httpapi"
)

// clusterOf answers GET /v1/cluster for node.
func clusterOf(node *murmurate.Node) func(policyName, key string) (httpapi.ClusterStatus, error) {
	return func(policyName, key string) (httpapi.ClusterStatus, error) {
		status := httpapi.ClusterStatus{
			Self:   node.Name(),
			Digest: fmt.Sprintf("%016x", node.Digest()),
		}
		if key != "" {
			owner, err := node.OwnerOf(policyName, key)
			if err != nil {
				return httpapi.ClusterStatus{}, err
			}
			status.Owner = owner
		}
		for _, m := range node.Members() {
			status.Members = append(status.Members, memberOf(node, m))
		}
		return status, nil
	}
}

func memberOf(node *murmurate.Node, m cluster.MemberStatus) httpapi.MemberStatus {
	status := httpapi.MemberStatus{
		ID:        m.ID,
		Address:   m.Address,
		State:     m.State.String(),
		Reachable: m.Reachable,
		Version:   m.Version,
		Owned:     m.Owned,
	}
	if m.ID == node.Name() { // the others' counters are not gossiped
		keys := node.Keys()
		status.Keys = &keys
	}
	return status
}

// readiness answers GET /readyz for node. A node that is about to drain is
// not ready, whatever the cluster says.
func readiness(node *murmurate.Node, draining bool) httpapi.Readiness {
	from := node.Readiness()
	r := httpapi.Readiness{Ready: from.Ready && !draining, Alone: from.Alone}
	for _, c := range from.Conditions {
		r.Conditions = append(r.Conditions, httpapi.Condition(c))
	}
	if draining {
		r.Conditions = append(r.Conditions, httpapi.Condition{Name: "draining", Detail: "this node is about to end"})
	}
	return r
}

// readyLine tells, once, that a node is ready.
type readyLine struct {
	Ready  bool   `json:"ready"`
	Detail string `json:"detail,omitempty"` // what it lacks all the same
	Try    string `json:"try,omitempty"`    // a command line to begin with
}

func newReadyLine(r httpapi.Readiness) readyLine {
	var details []string
	for _, c := range r.Conditions {
		if c.Detail != "" {
			details = append(details, c.Detail)
		}
	}
	return readyLine{Ready: r.Ready, Detail: strings.Join(details, "; ")}
}

func (l readyLine) text(w *strings.Builder) {
	if l.Detail == "" {
		fmt.Fprintln(w, "ready")
	} else {
		fmt.Fprintf(w, "ready (%s)\n", l.Detail)
	}
	if l.Try != "" {
		fmt.Fprintf(w, "try: %s\n", l.Try)
	}
}
