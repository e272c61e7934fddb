package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

// full is an API with every endpoint.
func full(t *testing.T) *API {
	node := newFake(t, api())
	return New(Options{
		Node:      node,
		Overrides: &fakeOverrides{set: node.set},
		Cluster:   func(string, string) (ClusterStatus, error) { return ClusterStatus{}, nil },
		Evict:     func(string, bool) error { return nil },
		Metrics:   http.NotFoundHandler(),
		OpenAdmin: true,
	})
}

func TestUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	h := full(t).Handler()
	tests := []struct{ method, path, allow string }{
		{"GET", "/v1/check", "POST"},
		{"PUT", "/v1/check/batch", "POST"},
		{"GET", "/v1/settle", "POST"},
		{"POST", "/v1/keys/api/a", "DELETE, GET, HEAD"},
		{"OPTIONS", "/v1/keys/api/a", "DELETE, GET, HEAD"},
		{"POST", "/v1/overrides", "GET, HEAD"},
		{"POST", "/v1/overrides/api/a", "DELETE, GET, HEAD, PUT"},
		{"POST", "/v1/policies", "GET, HEAD"},
		{"DELETE", "/v1/cluster", "GET, HEAD"},
		{"POST", "/livez", "GET, HEAD"},
		{"POST", "/readyz", "GET, HEAD"},
		{"POST", "/metrics", "GET, HEAD"},
		{"POST", "/", "GET, HEAD"},
		{"GET", "/v1", ""},
		{"GET", "/v1/checks", ""},
		{"POST", "/v1/check/", ""},
		{"GET", "/favicon.ico", ""},
		{"BREW", "/coffee", ""},
	}
	for _, tt := range tests {
		w := serve(h, tt.method, tt.path, "")
		status := http.StatusNotFound
		if tt.allow != "" {
			status = http.StatusMethodNotAllowed
		}
		wantProblem(t, w, status, "", "")
		if got := w.Header().Get("Allow"); got != tt.allow {
			t.Errorf("%s %s: Allow %q, want %q", tt.method, tt.path, got, tt.allow)
		}
	}
}

func TestIndexListsWhatThereIs(t *testing.T) {
	t.Parallel()
	w := serve(full(t).Handler(), "GET", "/", "")
	for _, endpoint := range []string{"POST /v1/check", "DELETE /v1/keys/{policy}/{key", "GET /v1/cluster", "PUT /v1/overrides/{policy}/{key", "GET /metrics", "GET /readyz"} {
		if !strings.Contains(w.Body.String(), endpoint) {
			t.Errorf("no %s in %s", endpoint, w.Body)
		}
	}
	bare := New(Options{Node: newFake(t)}).Handler()
	if text := serve(bare, "GET", "/", "").Body.String(); strings.Contains(text, "/metrics") || strings.Contains(text, "/v1/cluster") || strings.Contains(text, "/v1/overrides") {
		t.Errorf("the index lists what there is not: %s", text)
	}
	for _, path := range []string{"/metrics", "/v1/cluster", "/v1/overrides"} {
		wantProblem(t, serve(bare, "GET", path, ""), 404, "", "")
	}
}
