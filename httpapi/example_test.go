package httpapi_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Two requests an hour for each API key.
func ExampleMiddleware() {
	policies, err := policy.NewSet(policy.Policy{Name: "api", Limits: []limiter.Limit{
		{Algorithm: limiter.TokenBucket, Count: 2, Period: time.Hour},
	}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	node, err := murmurate.Start(ctx, murmurate.Options{Alone: true, Policies: policies})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)

	app := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") })
	limited := httpapi.Middleware(node, httpapi.ByHeader("X-Api-Key"))(app)

	for range 3 {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Api-Key", "secret")
		w := httptest.NewRecorder()
		limited.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("RateLimit-Policy"), w.Header().Get("RateLimit-Remaining"))
	}
	// Output:
	// 200 "api";q=2;w=3600 1
	// 200 "api";q=2;w=3600 0
	// 429 "api";q=2;w=3600 0
}

type userKey struct{}

// The user that the application has authenticated is the key, and a counter
// is found by it.
func ExampleByFunc() {
	ctx := context.Background()
	node, err := murmurate.Start(ctx, murmurate.Options{Alone: true})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)

	user := httpapi.ByFunc(func(r *http.Request) string {
		name, _ := r.Context().Value(userKey{}).(string)
		return name
	})
	mux := http.NewServeMux()
	mux.Handle("GET /orders", httpapi.Middleware(node, user)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		d, _ := httpapi.DecisionFrom(r.Context())
		fmt.Println(d.Policy, d.Remaining)
	})))

	r := httptest.NewRequest(http.MethodGet, "/orders", nil)
	mux.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithValue(ctx, userKey{}, "user:42")))

	d, err := node.Reset(ctx, policy.DefaultName, "user:42")
	fmt.Println(d.Remaining, err)
	// Output:
	// default 99
	// 100 <nil>
}

// Calls go out at our own rate, here two at once and then one a second. The
// other side refuses the first one and says when to come back: Transport waits
// for as long and sends it again.
func ExampleTransport() {
	ctx := context.Background()
	policies, err := policy.NewSet(policy.Policy{Name: "outgoing", Limits: []limiter.Limit{limiter.PerSecond(1).WithBurst(2)}})
	if err != nil {
		log.Fatal(err)
	}
	node, err := murmurate.Start(ctx, murmurate.Options{Alone: true, Policies: policies})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)

	var requests atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer other.Close()

	client := http.Client{Transport: &httpapi.Transport{Node: node, Policy: "outgoing"}}
	defer client.CloseIdleConnections()
	answer, err := client.Get(other.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	fmt.Println(answer.StatusCode, "after", requests.Load(), "requests")
	// Output: 200 after 2 requests
}
