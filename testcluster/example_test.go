package testcluster_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// limits is what the code under test needs of a node.
type limits interface {
	Check(ctx context.Context, r policy.Request) (policy.Decision, error)
}

// signup is the code under test.
func signup(node limits) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := node.Check(r.Context(), policy.Request{Policy: "signup", Key: r.RemoteAddr})
		if err != nil || !d.Allowed {
			http.Error(w, "come back later", http.StatusTooManyRequests)
			return
		}
		fmt.Fprintln(w, "welcome")
	})
}

func ExampleScripted() {
	node := testcluster.Scripted(
		testcluster.Answer{Allowed: true},
		testcluster.Answer{RetryAfter: time.Minute},
	)
	for range 2 {
		w := httptest.NewRecorder()
		signup(node).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/signup", nil))
		fmt.Print(w.Code, " ", w.Body)
	}
	fmt.Println("asked by", node.Calls()[0].Key)
	// Output:
	// 200 welcome
	// 429 come back later
	// asked by 192.0.2.1:1234
}
