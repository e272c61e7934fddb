package httpapi

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// check serves POST /v1/check.
func (a *API) check(w http.ResponseWriter, r *http.Request) { a.decide(w, r, false) }

// explainedCheck serves POST /v1/check?explain=1.
func (a *API) explainedCheck(w http.ResponseWriter, r *http.Request) { a.decide(w, r, true) }

func (a *API) decide(w http.ResponseWriter, r *http.Request, explain bool) {
	x := newExchange()
	defer x.release()
	c, ok := a.readCheck(x, w, r, decodeCheck)
	if !ok {
		return
	}
	var explained []byte
	if explain {
		var err error
		if explained, err = a.explanation(&c.Request); err != nil {
			writeProblem(w, problemOf(err))
			return
		}
	}
	d, err := a.node.Check(r.Context(), c.Request)
	if errors.Is(err, policy.ErrInput) {
		if explained != nil { // which says of which policy that is
			writeJSON(w, undecidedCheck{problemOf(err), explained})
			return
		}
		writeProblem(w, problemOf(err))
		return
	}
	c.asAsked(&d)
	if explained != nil {
		explained = append([]byte(`"explain":`), explained...)
	}
	a.writeDecision(w, x, &d, statusOf(&d), explained)
}

// asAsked makes the answer to a call of cost 1 that to a call of cost 0, if
// that was asked.
func (c *checkRequest) asAsked(d *policy.Decision) {
	if c.free {
		d.Cost, d.Delay = 0, 0
	}
}

// statusOf is the status of a decision: on a denial the policy's. 503 says
// that the limiter could not decide; it is not the client's doing.
func statusOf(d *policy.Decision) int {
	switch {
	case d.Allowed:
		return http.StatusOK
	case undecided(d):
		return http.StatusServiceUnavailable
	}
	return cmp.Or(d.DenyStatus, policy.DefaultDenyStatus)
}

// undecided reports whether d denies because the limiter could not decide and
// its operator chose to deny then.
func undecided(d *policy.Decision) bool {
	return !d.Allowed && d.Source == limiter.SourceFailClosed && d.OnUnreachable == policy.Deny
}

// uncounted reports whether nobody counted for a decision of that source, so
// that what remains is not known.
func uncounted(s limiter.Source) bool {
	return s == limiter.SourceFailOpen || s == limiter.SourceFailClosed
}

// writeDecision answers with d.
//
// beside, if not nil, are the fields that the answer has beside the decision's.
func (a *API) writeDecision(w http.ResponseWriter, x *exchange, d *policy.Decision, status int, beside []byte) {
	a.writeDecisionHead(w, d, status)
	x.answer = appendDecision(x.answer, d)
	if beside != nil {
		x.answer = append(append(x.answer[:len(x.answer)-1], ','), beside...)
		x.answer = append(x.answer, '}')
	}
	x.answer = append(x.answer, '\n')
	_, _ = w.Write(x.answer) // the client has gone: nobody to tell
}

// writeDecisionHead answers with d but for the body. No answer may be cached, an
// admission least of all: it has been spent.
func (a *API) writeDecisionHead(w http.ResponseWriter, d *policy.Decision, status int) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	a.fields.write(h, d, status != http.StatusOK)
	w.WriteHeader(status)
}
