package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

func TestAdministration(t *testing.T) {
	t.Parallel()
	tokens := []string{"first", "second token"}
	tests := []struct {
		why       string
		options   Options
		header    string
		status    int
		challenge string
	}{
		{"on loopback", Options{OpenAdmin: true}, "", 200, ""},
		{"beyond, without tokens", Options{}, "Bearer x", 403, ""},
		{"beyond, with the empty token", Options{Tokens: []string{""}}, "Bearer ", 401, `Bearer realm="murmurate"`},
		{"no token", Options{Tokens: tokens}, "", 401, `Bearer realm="murmurate"`},
		{"no token on loopback", Options{Tokens: tokens, OpenAdmin: true}, "", 401, `Bearer realm="murmurate"`},
		{"wrong token", Options{Tokens: tokens}, "Bearer firs", 401, `Bearer realm="murmurate", error="invalid_token"`},
		{"wrong scheme", Options{Tokens: tokens}, "Basic first", 401, `Bearer realm="murmurate"`},
		{"first token", Options{Tokens: tokens}, "Bearer first", 200, ""},
		{"second token, scheme in lower case", Options{Tokens: tokens}, "bearer  second token", 200, ""},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			node := newFake(t, api())
			tt.options.Node = node
			w := serve(New(tt.options).Handler(), "DELETE", "/v1/keys/api/a", "", "Authorization", tt.header)
			if w.Code != tt.status || w.Header().Get("WWW-Authenticate") != tt.challenge || len(node.resets) != btoi(tt.status == 200) {
				t.Errorf("status %d, challenge %q, resets %q", w.Code, w.Header().Get("WWW-Authenticate"), node.resets)
			}
			if tt.status != 200 {
				wantProblem(t, w, tt.status, "", "http.auth_tokens")
				if wrong := strings.Contains(w.Body.String(), "the token that was sent is none of"); wrong != strings.Contains(tt.challenge, "invalid_token") {
					t.Errorf("%s", w.Body)
				}
			}
			// To look is no administration.
			if w := serve(New(tt.options).Handler(), "GET", "/v1/keys/api/a", ""); w.Code != http.StatusOK {
				t.Errorf("GET: status %d", w.Code)
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestPublicRefusesAdministration(t *testing.T) {
	t.Parallel()
	node := newFake(t, api())
	h := New(Options{Node: node, Tokens: []string{"t"}, OpenAdmin: true}).Public()
	wantProblem(t, serve(h, "DELETE", "/v1/keys/api/a", "", "Authorization", "Bearer t"), 403, "", "http.admin_listen")
	if w := serve(h, "POST", "/v1/check", `{"policy":"api","key":"a"}`); w.Code != http.StatusOK || len(node.resets) != 0 {
		t.Errorf("status %d, resets %q", w.Code, node.resets)
	}
}
