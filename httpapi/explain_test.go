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
	if w := serve(h, "POST", "/v1/check?", body); w.Code != 200 || strings.Contains(w.Body.String(), "explain") {
		t.Errorf("not explained: %d %s", w.Code, w.Body)
	}
	if w := serve(h, "POST", "/v1/check?explain=true", body, "Authorization", "Bearer t"); w.Code != 200 || !strings.Contains(w.Body.String(), "explain") {
		t.Errorf("explain=true: %d %s", w.Code, w.Body)
	}
	for _, query := range []string{"explain", "explain=", "explain=0", "explain=yes", "explain=TRUE", "explain=1&explain=1"} {
		wantProblem(t, serve(h, "POST", "/v1/check?"+query, body, "Authorization", "Bearer t"), 400, "explain", "must be 1 or true")
	}
	public := New(Options{Node: node, Explain: explain, OpenAdmin: true}).Public()
	wantProblem(t, serve(public, "POST", "/v1/check?explain=1", body), 403, "", "http.admin_listen")
	if len(node.asked) != 3 {
		t.Errorf("%d checks were made, want the three that were answered", len(node.asked))
	}
}

// A policy that cannot decide is in the list with what it lacks, and the
// others are too.
func TestExplainedCheckThatCannotBeDecided(t *testing.T) {
	t.Parallel()
	keyless, site := api(), api()
	keyless.Name, site.Name, site.Key = "keyless", "site", []string{"global"}
	node := newFake(t, keyless, site)
	h := New(Options{Node: node, OpenAdmin: true, Explain: func(r policy.Request) []policy.Explanation {
		return node.set.Explain(r.Attributes, policy.MatchOptions{Key: r.Key, Cost: r.Cost})
	}}).Handler()
	w := serve(h, "POST", "/v1/check?explain=1", `{"attributes":{}}`)
	got := decoded[struct {
		Allowed *bool
		Error   problem
		Explain []explained
	}](t, w)
	if w.Code != 200 || got.Allowed != nil || got.Error.Status != 400 || got.Error.Field != "key" || len(got.Explain) != 2 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if e := got.Explain[0]; e.Policy != "keyless" || e.Applies || !strings.Contains(e.Because, "has no key of its own") {
		t.Errorf("keyless: %+v", e)
	}
	if e := got.Explain[1]; e.Policy != "site" || !e.Applies || e.Because != "" {
		t.Errorf("site: %+v", e)
	}
	wantProblem(t, serve(h, "POST", "/v1/check?explain=1", `{"attributes":{},"cost":-1}`), 400, "cost", "must not be negative")
	wantProblem(t, serve(h, "POST", "/v1/check", `{"attributes":{}}`), 400, "key", "has no key of its own")
}
