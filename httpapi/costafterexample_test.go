package httpapi_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Logins, downloads and reports, each charged in its own units once it is
// known what it cost.
func ExampleWithCostAfter() {
	policies, err := policy.NewSet(
		policy.Policy{Name: "logins", Limits: []limiter.Limit{{Algorithm: limiter.SlidingWindow, Count: 5, Period: 15 * time.Minute}}},
		policy.Policy{Name: "bytes", Limits: []limiter.Limit{{Algorithm: limiter.FixedWindow, Count: 1 << 20, Period: 24 * time.Hour, Align: limiter.AlignFirst}}},
		policy.Policy{Name: "milliseconds", Limits: []limiter.Limit{limiter.PerMinute(5_000)}},
	)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	node, err := murmurate.Start(ctx, murmurate.Options{Alone: true, Policies: policies})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)

	user := httpapi.ByHeader("X-User")
	logins := httpapi.Middleware(node, user, httpapi.WithPolicy("logins"),
		httpapi.WithCostAfter(func(status int, _ http.Header, _ int64, _ time.Duration) int64 {
			if status == http.StatusUnauthorized {
				return 1
			}
			return 0
		}))
	downloads := httpapi.Middleware(node, user, httpapi.WithPolicy("bytes"),
		httpapi.WithCostAfter(func(_ int, _ http.Header, bytes int64, _ time.Duration) int64 { return bytes }))
	reports := httpapi.Middleware(node, user, httpapi.WithPolicy("milliseconds"), httpapi.WithoutEstimate(),
		httpapi.WithCostAfter(func(_ int, _ http.Header, _ int64, elapsed time.Duration) int64 { return elapsed.Milliseconds() }))

	mux := http.NewServeMux()
	mux.Handle("/login", logins(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("password") != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})))
	mux.Handle("/download", downloads(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", 1000))
	})))
	mux.Handle("/report", reports(http.NotFoundHandler()))

	for _, target := range []string{"/login?password=secret", "/login?password=wrong", "/download", "/report"} {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Header.Set("X-User", "anna")
		mux.ServeHTTP(httptest.NewRecorder(), r)
	}
	for _, name := range []string{"logins", "bytes"} {
		d, err := node.Peek(ctx, name, "header:x-user=anna")
		fmt.Println(name, d.Remaining, err)
	}
	// Output:
	// logins 4 <nil>
	// bytes 1047576 <nil>
}
