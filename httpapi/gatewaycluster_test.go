package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// A gateway is answered within its bound, by the failure mode if it must be,
// although a check may wait longer.
func TestGatewayAndASlowOwner(t *testing.T) {
	for _, c := range []struct {
		mode   policy.Unreachable
		delay  time.Duration
		status int
		marked string
	}{
		{policy.Deny, time.Millisecond, http.StatusOK, ""},
		{policy.Deny, 20 * time.Millisecond, http.StatusServiceUnavailable, ""},
		{policy.Allow, 20 * time.Millisecond, http.StatusOK, "degraded"},
		{policy.Local, 20 * time.Millisecond, http.StatusOK, "degraded"},
	} {
		t.Run(c.mode.String()+" after "+c.delay.String(), func(t *testing.T) {
			p := bucket("api", 10)
			p.Key, p.OnUnreachable = []string{"header:X-Api-Key"}, c.mode
			twoNodes(t, func(t *testing.T, cluster *testcluster.Cluster, _ http.Handler, key string) {
				cluster.Delay(c.delay, 0)
				h := httpapi.New(httpapi.Options{Node: cluster.Node("n1")}).Handler()
				r := httptest.NewRequest(http.MethodGet, "/gateway", nil)
				r.Header.Set("X-Api-Key", key)
				w := httptest.NewRecorder()
				began := time.Now()
				h.ServeHTTP(w, r)
				if waited := time.Since(began); waited > 15*time.Millisecond {
					t.Errorf("answered after %v", waited)
				}
				if got := w.Header().Get("X-RateLimit-Status"); w.Code != c.status || got != c.marked {
					t.Errorf("status %d, %q, want %d, %q", w.Code, got, c.status, c.marked)
				}
			}, p)
		})
	}
}
