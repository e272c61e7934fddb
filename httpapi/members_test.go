package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
)

func TestEvict(t *testing.T) {
	t.Parallel()
	var asked []string
	o := Options{
		Node: newFake(t, api()), OpenAdmin: true,
		Cluster: func(string, string) (ClusterStatus, error) { return ClusterStatus{Self: "n1"}, nil },
		Evict: func(id string, force bool) error {
			asked = append(asked, fmt.Sprint(id, " ", force))
			switch {
			case id == "nobody":
				return fmt.Errorf("%w: %q", ErrNoMember, id)
			case id == "n2" && !force:
				return fmt.Errorf("%w: too few", ErrNotEvicted)
			case id == "odd":
				return errors.New("the ring is broken")
			}
			return nil
		},
	}
	h := New(o).Handler()
	if w := serve(h, "DELETE", "/v1/members/n3", ""); w.Code != http.StatusOK || decoded[ClusterStatus](t, w).Self != "n1" {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	if w := serve(h, "DELETE", "/v1/members/n2?force=1", ""); w.Code != http.StatusOK {
		t.Errorf("by force: status %d: %s", w.Code, w.Body)
	}
	for path, want := range map[string]struct {
		status int
		field  string
	}{
		"nobody": {404, ""}, "n2": {409, ""}, "odd": {503, ""}, "n3?force=yes": {400, "force"}, "n3?forse=1": {400, "forse"},
	} {
		wantProblem(t, serve(h, "DELETE", "/v1/members/"+path, ""), want.status, want.field, "")
	}
	if got, want := fmt.Sprint(asked[:2]), "[n3 false n2 true]"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
	asked = nil
	o.OpenAdmin = false
	if w := serve(New(o).Handler(), "DELETE", "/v1/members/n3", ""); w.Code != http.StatusForbidden || asked != nil {
		t.Errorf("without a token: status %d, asked %v", w.Code, asked)
	}
}
