package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/policy"
)

// Whoever sets one override too many is told that another attempt does not help.
func TestOverrideWithoutRoom(t *testing.T) {
	t.Parallel()
	node, err := murmurate.Start(t.Context(), murmurate.Options{Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	overrides := overridesOf{node}
	for i := range cluster.MaxOverrides {
		if _, err := overrides.SetOverride("default", fmt.Sprint("k", i), policy.Override{Blocked: true}, 0); err != nil {
			t.Fatal(err)
		}
	}
	api := httpapi.New(httpapi.Options{Node: node, Overrides: overrides, OpenAdmin: true}).Handler()
	put := func(key string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "/v1/overrides/default/"+key, strings.NewReader(`{"unlimited":true}`)))
		return w
	}
	if w := put("k7"); w.Code != http.StatusOK {
		t.Errorf("another override in the place of one: %d %s", w.Code, w.Body)
	}
	if w := put("one-more"); w.Code != http.StatusInsufficientStorage || !strings.Contains(w.Body.String(), "remove some") {
		t.Errorf("one more: %d %s", w.Code, w.Body)
	}
}
