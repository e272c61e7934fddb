package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/policy"
)

// batchAnswer is the answer to a batch. Of each result one half is empty.
type batchAnswer struct {
	Results []struct {
		decisionJSON
		Error *problem
	}
}

func TestBatchKeepsOrderAndSparesTheGood(t *testing.T) {
	t.Parallel()
	node := newFake(t, api(), policy.Default())
	h := New(Options{Node: node, Fields: bothDialects}).Handler()
	long := strings.Repeat("k", policy.MaxKeyBytes+1)
	w := serve(h, "POST", "/v1/check/batch", `{"checks":[
		{"policy":"api","key":"a"},
		{"policy":"api","key":"a","cost":1.5},
		{"policy":"nope","key":"a"},
		null,
		[],
		"x",
		{"policy":"api","key":"a","extra":{"nested":["}",{"]":1}]}},
		{"policy":"api","key":"a","key":"b"},
		{"policy":"api","key":"`+long+`"},
		{"policy":"api","key":"`+"\xff"+`"},
		{"key":"b","limit":{"algorithm":"token_bucket","rate":"5/m"}},
		{},
		{"policy":"default","key":"c","cost":0},
		{"key":"b","limit":{"algorithm":"token_bucket","rate":"5/s"},"cost":2}
	]}`)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	got := decoded[batchAnswer](t, w).Results
	want := []struct {
		policy string // of a decision
		status int    // of an error
		field  string
	}{
		{policy: "api"},
		{status: 400, field: "checks[1].cost"},
		{status: 404, field: "checks[2].policy"},
		{status: 400, field: "checks[3]"},
		{status: 400, field: "checks[4]"},
		{status: 400, field: "checks[5]"},
		{status: 400, field: "checks[6].extra"},
		{status: 400, field: "checks[7].key"},
		{status: 400, field: "checks[8].key"},
		{status: 400, field: "checks[9].key"},
		{status: 400, field: "checks[10].limit.rate"},
		{status: 400, field: "checks[11].policy"},
		{policy: "default"},
		{policy: "inline"},
	}
	if len(got) != len(want) {
		t.Fatalf("%d results for %d checks", len(got), len(want))
	}
	for i, w := range want {
		switch r := got[i]; {
		case w.policy != "" && (r.Error != nil || r.Policy != w.policy || !r.Allowed):
			t.Errorf("result %d is %+v (error %+v), want a decision of %s", i, r.decisionJSON, r.Error, w.policy)
		case w.policy == "" && (r.Error == nil || r.Error.Status != w.status || r.Error.Field != w.field || r.Error.Detail == ""):
			t.Errorf("result %d is %+v, want an error %d in %s", i, r.Error, w.status, w.field)
		}
	}
	if got[12].Cost != 0 || got[13].Cost != 2 {
		t.Errorf("costs %d and %d, want 0 and 2", got[12].Cost, got[13].Cost)
	}
	if len(node.asked) != 3 {
		t.Errorf("%d checks reached a decision, want 3: %+v", len(node.asked), node.asked)
	}
	if h := w.Header(); h.Get("RateLimit") != "" || h.Get("Cache-Control") != "no-store" || h.Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
		t.Errorf("headers %v", h)
	}
}

// checks is a batch of n.
func checks(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"policy":"api","key":"user:%d"}`, i)
	}
	return `{"checks":[` + strings.Join(items, ",") + `]}`
}

func TestLargestBatch(t *testing.T) {
	t.Parallel()
	node := newFake(t, api())
	w := serve(New(Options{Node: node}).Handler(), "POST", "/v1/check/batch", checks(maxBatch))
	if got := len(decoded[batchAnswer](t, w).Results); w.Code != http.StatusOK || got != maxBatch {
		t.Fatalf("status %d, %d results", w.Code, got)
	}
	for i, r := range node.asked {
		if r.Key != "user:"+strconv.Itoa(i) {
			t.Fatalf("check %d is for %s", i, r.Key)
		}
	}
}

func TestBatchRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why, body, field, words string
		status                  int
	}{
		{"over 1,000", checks(maxBatch + 1), "checks", "must hold at most 1000 checks", 400},
		{"far over 1,000", `{"checks":[` + strings.Repeat("1,", 300_000) + `1]}`, "checks", "must hold at most 1000 checks", 400},
		{"none", `{"checks":[]}`, "checks", "must hold 1 to 1000 checks", 400},
		{"no field", `{}`, "checks", "must hold 1 to 1000 checks", 400},
		{"null", `{"checks":null}`, "checks", "must hold 1 to 1000 checks", 400},
		{"not an array", `{"checks":{"policy":"api","key":"a"}}`, "checks", "must be an array, got an object", 400},
		{"a bare array", `[{"policy":"api","key":"a"}]`, "", "the body must be an object", 400},
		{"a single check", `{"policy":"api","key":"a"}`, "policy", "is not a field here", 400},
		{"twice", `{"checks":[{"policy":"api","key":"a"}],"checks":[]}`, "checks", "is given twice", 400},
		{"broken in the middle", `{"checks":[{"policy":"api","key":"a"},{"policy"]}`, "", "the body is not JSON", 400},
		{"empty", ``, "", `the body is empty: send a JSON object such as {"checks":[{"policy"`, 400},
		{"over 1 MiB", checks(40_000), "", "at most 1048576 bytes; send fewer checks", 413},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			node := newFake(t, api())
			wantProblem(t, serve(New(Options{Node: node}).Handler(), "POST", "/v1/check/batch", tt.body), tt.status, tt.field, tt.words)
			if len(node.asked) != 0 {
				t.Errorf("%d checks reached the node", len(node.asked))
			}
		})
	}
}
