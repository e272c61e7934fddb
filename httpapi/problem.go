package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/murmurate/murmurate/policy"
)

// problem is an error as a client sees it (RFC 9457). Its type is
// about:blank, so its title is that of the status, except on a denial.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail says what to change.
	Detail string `json:"detail"`
	// Field is the path of the field at fault, such as "checks[3].cost".
	Field string `json:"field,omitempty"`
	// Violated are the limits that denied, by the names that the RateLimit
	// fields give them.
	Violated []string `json:"violated-policies,omitempty"`
	// Conditions tell why a node is not ready.
	Conditions []Condition `json:"conditions,omitempty"`
}

func newProblem(status int, detail string) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

// Error makes a problem an error, for what fails before there is a request.
func (p *problem) Error() string { return p.Detail }

// problemOf turns an error into what the client is told: what to mend if the
// fault is the client's, and otherwise that it may try again.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	input, ok := errors.AsType[*policy.InputError](err)
	if !ok {
		return newProblem(http.StatusServiceUnavailable, err.Error())
	}
	p := newProblem(http.StatusBadRequest, input.Error())
	p.Field = input.Field
	if input.Field == "" {
		p.Detail = "the body " + input.Detail
	}
	switch {
	case errors.Is(err, policy.ErrUnknownPolicy):
		p.Status = http.StatusNotFound
	case errors.Is(err, policy.ErrReceiptExpired):
		p.Status = http.StatusGone
	}
	p.Title = http.StatusText(p.Status)
	return p
}

// fault is an error in a field of a body, or without field in the body.
func fault(field, detail string) error {
	return &policy.InputError{Field: field, Detail: detail}
}

// within moves an error of a nested value to its place in the whole: path is
// put before the name of the field. Several faults in one value become one.
func within(path string, err error) error {
	input, ok := errors.AsType[*policy.InputError](err)
	if !ok {
		return err
	}
	moved := *input
	switch {
	case moved.Field == "":
		moved.Field = path
	case path != "":
		moved.Field = path + "." + moved.Field
	}
	return &moved
}

// clip shortens what a client sent, for a message.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

var (
	jsonType    = []string{"application/json"}
	problemType = []string{"application/problem+json"}
	noStore     = []string{"no-store"}
)

// writeProblem answers with p and its status.
func writeProblem(w http.ResponseWriter, p *problem) {
	writeProblemHead(w, p)
	writeProblemBody(w, p)
}

func writeProblemHead(w http.ResponseWriter, p *problem) {
	h := w.Header()
	h["Content-Type"] = problemType
	h["Cache-Control"] = noStore
	w.WriteHeader(p.Status)
}

func writeProblemBody(w http.ResponseWriter, p *problem) {
	_ = json.NewEncoder(w).Encode(p) // the client has gone: nobody to tell
}

// writeJSON answers 200 with v.
func writeJSON(w http.ResponseWriter, v any) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	_ = json.NewEncoder(w).Encode(v) // the client has gone: nobody to tell
}
