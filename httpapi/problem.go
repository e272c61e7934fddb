package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
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
	// Errors are all fields at fault, if there are several; Field and Detail
	// begin with the first.
	Errors []fieldFault `json:"errors,omitempty"`
	// Violated are the limits that denied, by the names that the RateLimit
	// fields give them.
	Violated []string `json:"violated-policies,omitempty"`
	// Policy is the policy whose quota is used up.
	Policy string `json:"policy,omitempty"`
	// Conditions tell why a node is not ready.
	Conditions []Condition `json:"conditions,omitempty"`
}

// fieldFault is one field at fault among several.
type fieldFault struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
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
	p := newProblem(http.StatusBadRequest, "")
	p.Field = input.Field
	for i, f := range policy.InputErrors(err) {
		if i > 0 {
			p.Detail += "; "
		}
		p.Detail += detailOf(f)
		p.Errors = append(p.Errors, fieldFault{f.Field, f.Detail})
	}
	if len(p.Errors) == 1 {
		p.Errors = nil
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

// detailOf is what a problem says of f.
func detailOf(f *policy.InputError) string {
	if f.Field == "" {
		return "the body " + f.Detail
	}
	return f.Error()
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
	noBytes     = []string{"0"}
)

// writeProblem answers with p and its status.
func writeProblem(w http.ResponseWriter, p *problem) {
	body := writeProblemHead(w, p)
	_, _ = w.Write(body) //nolint:gosec // JSON, and said to be; nobody to tell if the client has gone
}

// writeProblemHead answers with p but for the body, which it returns.
func writeProblemHead(w http.ResponseWriter, p *problem) (body []byte) {
	body, _ = json.Marshal(p) // of strings and numbers: cannot fail
	body = append(body, '\n')
	h := w.Header()
	h["Content-Type"] = problemType
	h["Cache-Control"] = noStore
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	return body
}

// writeJSON answers 200 with v.
func writeJSON(w http.ResponseWriter, v any) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	_ = json.NewEncoder(w).Encode(v) // the client has gone: nobody to tell
}
