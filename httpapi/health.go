package httpapi

import (
	"net/http"
	"strings"
)

// Readiness is whether a node should be sent requests.
type Readiness struct {
	// Ready is the answer. A node that can decide is ready, degraded or not.
	Ready bool
	// Alone is set for a node that serves without having found the others
	// that it was told to join.
	Alone bool
	// Conditions are what the answer follows from.
	Conditions []Condition
}

// Condition is one thing that readiness looks at.
type Condition struct {
	// Name is short and fixed, such as "joined".
	Name string `json:"name"`
	// OK is whether it holds.
	OK bool `json:"ok"`
	// Detail tells people what is wrong, without naming the condition again.
	// Optional.
	Detail string `json:"detail,omitempty"`
}

// detail puts it in one line. A condition that fails without a detail only
// follows from those that have one.
func (r *Readiness) detail() string {
	var details, names []string
	for _, c := range r.Conditions {
		switch {
		case c.OK:
		case c.Detail != "":
			details = append(details, c.Detail)
		default:
			names = append(names, "not "+c.Name)
		}
	}
	if len(details) == 0 {
		details = names
	}
	list := strings.Join(details, "; ")
	switch {
	case !r.Ready && list == "":
		return "not ready"
	case !r.Ready:
		return "not ready: " + list
	case r.Alone:
		return "alone"
	case list != "":
		return "degraded: " + list
	}
	return "ready"
}

func livez(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, struct {
		Live bool `json:"live"`
	}{true})
}

func (a *API) readyz(w http.ResponseWriter, r *http.Request) {
	ready := a.ready()
	var conditions []Condition
	if r.URL.Query().Has("verbose") {
		conditions = ready.Conditions
	}
	if !ready.Ready {
		p := newProblem(http.StatusServiceUnavailable, ready.detail())
		p.Conditions = conditions
		writeProblem(w, p)
		return
	}
	writeJSON(w, struct {
		Ready      bool        `json:"ready"`
		Detail     string      `json:"detail"`
		Conditions []Condition `json:"conditions,omitempty"`
	}{true, ready.detail(), conditions})
}
