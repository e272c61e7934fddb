package httpapi

import (
	"errors"
	"net/http"
	"testing"
)

func TestSettleRequests(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		body, field, words string
		status             int
	}{
		{`{"receipt":"good","cost":812}`, "", "", 200},
		{`{"cost":0,"receipt":"good"}`, "", "", 200},
		{`{"receipt":"forged","cost":812}`, "receipt", "is none", 400},
		{`{"receipt":"old","cost":812}`, "receipt", "is none", 410},
		{`{"receipt":"good"}`, "", "must hold the receipt of a check, and the cost", 400},
		{`{"cost":5}`, "", "must hold the receipt of a check, and the cost", 400},
		{`{"receipt":"good","cost":null}`, "", "must hold", 400},
		{`{"receipt":"good","cost":-9223372036854775809}`, "cost", "must not be negative", 400},
		{`{"receipt":"good","cost":1.5}`, "cost", "must be a whole number", 400},
		{`{"receipt":true,"cost":1}`, "receipt", "must be a string", 400},
		{`{"receipt":"good","cost":1,"key":"a"}`, "key", "is not a field here", 400},
		{`{"receipt":"good","receipt":"good","cost":1}`, "receipt", "is given twice", 400},
		{``, "", "is empty", 400},
	} {
		node := newFake(t, api())
		w := serve(New(Options{Node: node, Fields: bothDialects}).Handler(), "POST", "/v1/settle", row.body)
		if row.status != http.StatusOK {
			wantProblem(t, w, row.status, row.field, row.words)
			if len(node.settled) != 0 {
				t.Errorf("%s: settled", row.body)
			}
			continue
		}
		d := decoded[map[string]any](t, w)
		if w.Code != http.StatusOK || d["allowed"] != true || len(node.settled) != 1 || d["cost"] != nil {
			t.Errorf("%s: %d, %v, settled %v", row.body, w.Code, d, node.settled)
		}
		if w.Header().Get("RateLimit-Limit") == "" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: header %v", row.body, w.Header())
		}
	}
}

// What could not be settled may be tried again.
func TestSettleThatFails(t *testing.T) {
	t.Parallel()
	node := newFake(t, api())
	node.err = errors.New("owner n2 is out of reach")
	w := serve(New(Options{Node: node}).Handler(), "POST", "/v1/settle", `{"receipt":"good","cost":1}`)
	wantProblem(t, w, http.StatusServiceUnavailable, "", "owner n2")
}
