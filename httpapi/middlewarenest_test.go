package httpapi_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/policy"
)

// scenario 40: the fields are sent once, for the limits of all middlewares
// that the request came through.
func TestNestedMiddlewares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node := alone(t, bucket("site", 10), bucket("user", 2))
		var seen policy.Decision
		app := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen, _ = httpapi.DecisionFrom(r.Context()) })
		h := httpapi.Middleware(node, httpapi.ByMethod(), httpapi.WithPolicy("site"))(
			httpapi.Middleware(node, byKey, httpapi.WithPolicy("user"))(app))

		w := send(h, "X-Api-Key", "a")
		wantFields(t, w, map[string]string{
			"RateLimit-Policy": `"site";q=10;w=3600, "user";q=2;w=3600`,
			"RateLimit":        `"site";r=9;t=360, "user";r=1;t=1800`,
			"RateLimit-Limit":  "2", "RateLimit-Remaining": "1", "RateLimit-Reset": "1800", "Retry-After": "",
		})
		if seen.Policy != "user" || len(seen.Limits) != 2 || !seen.Allowed {
			t.Errorf("the handler saw %+v", seen)
		}

		send(h, "X-Api-Key", "a")
		w = send(h, "X-Api-Key", "a") // the inner one denies
		wantFields(t, w, map[string]string{
			"RateLimit": `"site";r=7;t=360, "user";r=0;t=1800`, "RateLimit-Remaining": "0", "Retry-After": "1800",
		})
		if got := denialOf(t, w).Violated; !slices.Equal(got, []string{"user"}) {
			t.Errorf("denied by %q", got)
		}

		for range 7 {
			send(h, "X-Api-Key", "b")
		}
		w = send(h, "X-Api-Key", "c") // the outer one denies: the inner one has no say
		wantFields(t, w, map[string]string{"RateLimit": `"site";r=0;t=360`, "Retry-After": "360"})
	})
}

// scenario 40: two counters of one policy are shown as one, the one closer to
// denying.
func TestNestedMiddlewaresOfOnePolicy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node := alone(t, bucket("api", 3))
		h := httpapi.Middleware(node, byKey)(httpapi.Middleware(node, httpapi.ByMethod())(ok))
		for _, key := range []string{"a", "b"} {
			send(h, "X-Api-Key", key)
		}
		w := send(h, "X-Api-Key", "a") // 1 left of the key, 0 of the method
		wantFields(t, w, map[string]string{"RateLimit-Policy": `"api";q=3;w=3600`, "RateLimit": `"api";r=0;t=1200`})
		w = send(h, "X-Api-Key", "c") // 2 left of the key, and the method denies
		wantFields(t, w, map[string]string{"RateLimit": `"api";r=0;t=1200`, "Retry-After": "1200"})
	})
}

// scenario 40: what the application writes about limits of its own stays as
// it is, and what was there before ours is replaced.
func TestFieldsOfOthers(t *testing.T) {
	t.Parallel()
	app := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("RateLimit", `"app";r=1`)
		w.Header().Add("RateLimit-Limit", "7")
	})
	limited := httpapi.Middleware(alone(t, bucket("api", 3)), byKey)(app)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("RateLimit-Policy", `"outer";q=1`)
		limited.ServeHTTP(w, r)
	})
	w := send(h)
	wantFields(t, w, map[string]string{"RateLimit": `"app";r=1`, "RateLimit-Policy": `"api";q=3;w=3600`})
	if got := w.Header().Values("RateLimit-Limit"); !slices.Equal(got, []string{"3", "7"}) {
		t.Errorf("RateLimit-Limit is %q", got)
	}
}

// scenario 49: middlewares on one policy share a counter only if they tell
// requests apart in the same way, whatever clients send.
func TestMiddlewaresOfOneNameDoNotShare(t *testing.T) {
	t.Parallel()
	value := func(r *http.Request) string { return r.Header.Get("Value") }
	keys := []httpapi.Key{
		httpapi.ByHeader("Value"), httpapi.ByHeader("X-Value"), httpapi.ByCookie("Value"), httpapi.ByMethod(), httpapi.ByHost(),
		httpapi.ByPathValue("Value"), httpapi.ByPattern(), httpapi.ByFunc(value),
		httpapi.Join(httpapi.ByFunc(value), httpapi.ByHeader("Value")),
		httpapi.Join(httpapi.ByHeader("Value"), httpapi.ByFunc(value)),
	}
	for _, sent := range []string{
		"", "v", "GET", "example.com", "header:value", "header:value=v", "func", "func=v", "method=GET", "host=example.com", "pattern",
	} {
		node := alone(t, bucket("api", 1))
		for i, key := range keys {
			h := httpapi.Middleware(node, key)(ok)
			header := []string{"Value", sent, "X-Value", sent, "Cookie", "Value=" + sent}
			if w := send(h, header...); w.Code != http.StatusOK {
				t.Errorf("%q: key %d shares a counter with an earlier one", sent, i)
			}
			if w := send(h, header...); w.Code != http.StatusTooManyRequests {
				t.Errorf("%q: key %d does not count", sent, i)
			}
		}
	}
}

// scenario 49: two policies of one name are an error.
func TestPoliciesOfOneName(t *testing.T) {
	t.Parallel()
	if _, err := policy.NewSet(bucket("api", 1), bucket("api", 2)); err == nil {
		t.Error("two policies named api were accepted")
	}
}
