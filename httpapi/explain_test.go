package httpapi

import (
	"strings"
	"testing"

	"github.com/murmurate/murmurate/policy"
)

func TestExplainedCheck(t *testing.T) {
	t.Parallel()
	search, orders := api(), api()
	search.Name, search.Match, search.Key = "search", policy.Match{Path: "/search"}, []string{"header:X-Api-Key | ip"}
	orders.Name, orders.Match, orders.Key = "orders", policy.Match{Path: "/orders"}, []string{"global"}
	node := newFake(t, search, orders)
	explain := func(r policy.Request) []policy.Explanation {
		return node.set.Explain(r.Attributes, policy.MatchOptions{Key: r.Key, Cost: r.Cost})
	}
	h := New(Options{Node: node, Explain: explain, Tokens: []string{"t"}}).Handler()
	const body = `{"attributes":{"path":"//search/","ip":"203.0.113.9"}}`
	w := serve(h, "POST", "/v1/check?explain=1", body, "Authorization", "Bearer t")
	got := decoded[struct {
		Allowed bool
		Explain []explained
	}](t, w)
	if !got.Allowed || len(got.Explain) != 2 {
		t.Fatalf("%s", w.Body)
	}
	if e := got.Explain[0]; e.Policy != "search" || !e.Applies || e.Key == "" || strings.Join(e.KeyFrom, " ") != "ip" || e.Cost != 1 {
		t.Errorf("search: %+v", e)
	}
	if e := got.Explain[1]; e.Policy != "orders" || e.Applies || !strings.Contains(e.Because, "path") || e.Key != "" {
		t.Errorf("orders: %+v", e)
	}

	wantProblem(t, serve(h, "POST", "/v1/check?explain=1", body), 401, "", "http.auth_tokens")
	wantProblem(t, serve(h, "POST", "/v1/check?explain=1", `{"policy":"search","key":"k"}`, "Authorization", "Bearer t"), 400, "attributes", "explain=1")
	if w := serve(h, "POST", "/v1/check?explain=0", body); w.Code != 200 || strings.Contains(w.Body.String(), "explain") {
		t.Errorf("not explained: %d %s", w.Code, w.Body)
	}
	public := New(Options{Node: node, Explain: explain, OpenAdmin: true}).Public()
	wantProblem(t, serve(public, "POST", "/v1/check?explain=1", body), 403, "", "http.admin_listen")
	if len(node.asked) != 2 {
		t.Errorf("%d checks were made, want the two that were answered", len(node.asked))
	}
}
