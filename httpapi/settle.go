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
	a.writeDecision(w, x, &d, http.StatusOK, nil)
}
