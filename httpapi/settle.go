package httpapi

import "net/http"

// settle serves POST /v1/settle.
func (a *API) settle(w http.ResponseWriter, r *http.Request) {
	x := newExchange()
	defer x.release()
	s, ok := decodeBody(x, w, r, decodeSettlement)
	if !ok {
		return
	}
	d, err := a.node.Settle(r.Context(), s.receipt, s.cost)
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	// Without the cost: if the receipt was settled before, that of then counts.
	a.writeDecisionHead(w, &d, http.StatusOK)
	x.answer = append(appendDecisionWith(x.answer, &d, false, appendLimit), '\n')
	_, _ = w.Write(x.answer) // the client has gone: nobody to tell
}
