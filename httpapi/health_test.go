package httpapi

import (
	"net/http"
	"reflect"
	"testing"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	joined := Condition{Name: "joined", OK: true}
	lost := Condition{Name: "joined", Detail: "no seed answers"}
	tests := []struct {
		why    string
		ready  Readiness
		status int
		detail string
	}{
		{"ready", Readiness{Ready: true, Conditions: []Condition{joined}}, 200, "ready"},
		{"alone", Readiness{Ready: true, Alone: true, Conditions: []Condition{lost}}, 200, "alone"},
		{"degraded", Readiness{Ready: true, Conditions: []Condition{joined, {Name: "peers", Detail: "n2 out of reach"}}}, 200, "degraded: n2 out of reach"},
		{"not ready", Readiness{Conditions: []Condition{joined, lost, {Name: "settled"}}}, 503, "not ready: no seed answers"},
		{"not ready without a reason", Readiness{Conditions: []Condition{joined, {Name: "settled"}}}, 503, "not ready: not settled"},
		{"two reasons", Readiness{Conditions: []Condition{lost, {Name: "peers", Detail: "n2 out of reach"}}}, 503, "not ready: no seed answers; n2 out of reach"},
		{"draining", Readiness{}, 503, "not ready"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			h := New(Options{Node: newFake(t), Ready: func() Readiness { return tt.ready }}).Handler()
			type answer struct {
				Ready      bool
				Detail     string
				Conditions []Condition
			}
			w := serve(h, "GET", "/readyz", "")
			got := decoded[answer](t, w)
			if w.Code != tt.status || got.Ready != (tt.status == 200) || got.Detail != tt.detail || got.Conditions != nil {
				t.Errorf("status %d, %+v, want status %d, detail %q", w.Code, got, tt.status, tt.detail)
			}
			if got := decoded[answer](t, serve(h, "GET", "/readyz?verbose", "")); !reflect.DeepEqual(got.Conditions, tt.ready.Conditions) {
				t.Errorf("verbose: %+v", got)
			}
			if tt.status != 200 {
				wantProblem(t, w, tt.status, "", tt.detail)
			}
			if w := serve(h, "GET", "/livez", ""); w.Code != http.StatusOK {
				t.Errorf("livez: status %d", w.Code)
			}
		})
	}
	if w := serve(New(Options{Node: newFake(t)}).Handler(), "GET", "/readyz", ""); w.Code != http.StatusOK {
		t.Errorf("without Ready: status %d", w.Code)
	}
}
