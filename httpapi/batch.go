package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/murmurate/murmurate/policy"
)

// checkBatch serves POST /v1/check/batch. Items that are no checks are
// answered in their place; the others are decided.
func (a *API) checkBatch(w http.ResponseWriter, r *http.Request) {
	x := newExchange()
	defer x.release()
	items, ok := decodeBody(x, w, r, decodeBatch)
	if !ok {
		return
	}
	requests, set := make([]policy.Request, 0, len(items)), a.node.Policies()
	for i := range items {
		item := &items[i]
		if item.err == nil {
			item.err = item.complete(a.client.prefixes, set)
		}
		if item.err == nil {
			requests = append(requests, item.Request)
		}
	}
	var outcomes []policy.Outcome
	if len(requests) > 0 {
		outcomes = a.node.CheckAll(r.Context(), requests)
	}
	x.answer = appendResults(x.answer, items, outcomes)
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	h.Set("Content-Length", strconv.Itoa(len(x.answer)))
	_, _ = w.Write(x.answer) // the client has gone: nobody to tell
}

// appendResults appends the answer to a batch. outcomes are those of the
// items without error.
func appendResults(b []byte, items []batchItem, outcomes []policy.Outcome) []byte {
	b = append(b, `{"results":[`...)
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		item, outcome := &items[i], policy.Outcome{Err: items[i].err}
		if item.err == nil {
			outcome, outcomes = outcomes[0], outcomes[1:]
		}
		if errors.Is(outcome.Err, policy.ErrInput) {
			b = appendItemError(b, i, outcome.Err)
			continue
		}
		item.asAsked(&outcome.Decision)
		b = appendDecision(b, &outcome.Decision)
	}
	return append(b, "]}\n"...)
}

// appendItemError appends {"error":...} with the problem that the item alone
// would have been answered with.
func appendItemError(b []byte, i int, err error) []byte {
	encoded, _ := json.Marshal(problemOf(within(fmt.Sprintf("checks[%d]", i), err))) // of strings: cannot fail
	b = append(b, `{"error":`...)
	b = append(b, encoded...)
	return append(b, '}')
}
