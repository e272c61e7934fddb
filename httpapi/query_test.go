package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestUnknownParameters(t *testing.T) {
	t.Parallel()
	a := full(t)
	const check = `{"policy":"api","key":"k"}`
	for _, c := range []struct{ method, path, body, field, words string }{
		{"POST", "/v1/check?explan=1", check, "explan", `did you mean "explain"?`},
		{"POST", "/v1/check?explain=1&pretty", check, "pretty", "which takes explain"},
		{"POST", "/v1/check?=1", check, "query", "without a name"},
		{"POST", "/v1/check?%zz", check, "", "the query cannot be read"},
		{"POST", "/v1/check/batch?explain=1", `{"checks":[` + check + `]}`, "explain", "POST /v1/check?explain=1"},
		{"POST", "/v1/check/batch?explan=1", `{"checks":[` + check + `]}`, "explan", "which takes none"},
		{"GET", "/v1/keys/api/a?b", "", "b", "write ? as %3F"},
		{"DELETE", "/v1/keys/api/a?b", "", "b", "write ? as %3F"},
		{"DELETE", "/v1/overrides/api/a?b", "", "b", "write ? as %3F"},
		{"GET", "/v1/overrides?polcy=api", "", "polcy", `did you mean "policy"?`},
		{"GET", "/v1/cluster?policy=api&kye=a", "", "kye", `did you mean "key"?`},
		{"GET", "/v1/policies?name=api", "", "name", "which takes none"},
	} {
		for _, h := range []http.Handler{a.Handler(), a.Public()} {
			wantProblem(t, serve(h, c.method, c.path, c.body), http.StatusBadRequest, c.field, c.words)
		}
	}
	if node := a.node.(*fakeNode); len(node.asked)+len(node.resets) != 0 {
		t.Errorf("asked %v, reset %q", node.asked, node.resets)
	}
	for _, path := range []string{"/?x", "/livez?x=1", "/readyz?verbos", "/openapi.json?x", "/gateway/?explan=1"} { // asked by other programs
		if w := serve(a.Handler(), "GET", path, ""); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// The parameters that are known are those that the document describes.
func TestParametersAreDescribed(t *testing.T) {
	t.Parallel()
	for path, item := range described(t, false).Paths.Map() {
		if !strings.HasPrefix(path, "/v1/") {
			continue
		}
		var told []string
		for _, operation := range item.Operations() {
			for _, p := range operation.Parameters {
				if p.Value.In == "query" {
					told = append(told, p.Value.Name)
				}
			}
		}
		if path == "/v1/keys/{policy}/{key}" {
			path = keyPath // which matches slashes, too
		}
		if known := parameters[path]; !slices.Equal(told, known) {
			t.Errorf("%s: described %q, known %q", path, told, known)
		}
	}
}
