package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/policy"
)

func TestCluster(t *testing.T) {
	t.Parallel()
	keys := 1042
	status := ClusterStatus{Self: "n1", Digest: "d", Members: []MemberStatus{
		{ID: "n1", Address: "127.0.0.1:7382", State: "active", Reachable: true, Version: "1.0.0", Owned: 0.5, Keys: &keys},
		{ID: "n2", Address: "127.0.0.2:7382", State: "active", Version: "1.0.0", Owned: 0.5},
	}}
	byHeader := api()
	byHeader.Name, byHeader.Key = "made", []string{"header:X-Api-Key | ip"}
	h := New(Options{Node: newFake(t, api(), byHeader), Cluster: func(policyName, key string) (ClusterStatus, error) {
		s := status
		switch policyName {
		case "api", "made":
			s.Owner = "owner of " + key
		case "nope":
			return s, &policy.InputError{Field: "policy", Detail: `there is no policy "nope"`, Unknown: true}
		case "lost":
			return s, errors.New("no owner is known")
		}
		return s, nil
	}}).Handler()
	const want = `{"self":"n1","digest":"d","members":[` +
		`{"id":"n1","address":"127.0.0.1:7382","state":"active","reachable":true,"version":"1.0.0","owned":0.5,"keys":1042},` +
		`{"id":"n2","address":"127.0.0.2:7382","state":"active","reachable":false,"version":"1.0.0","owned":0.5,"keys":null}]}` + "\n"
	if w := serve(h, "GET", "/v1/cluster", ""); w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("status %d\n%s\nwant\n%s", w.Code, w.Body, want)
	}
	for query, want := range map[string][2]string{
		"policy=api&key=a%2Fb%26c":    {"owner of a/b&c", ""},
		"policy=made&key=a%26c":       {"owner of a&c", "owner of header:x-api-key=a%26c"},
		"policy=made&key=" + fp + "1": {"owner of " + fp + "1", ""},
	} {
		if got := decoded[ClusterStatus](t, serve(h, "GET", "/v1/cluster?"+query, "")); got.Owner != want[0] || got.MadeOwner != want[1] {
			t.Errorf("%s: owners %q and %q, want %q", query, got.Owner, got.MadeOwner, want)
		}
	}
	for query, want := range map[string]struct {
		status int
		field  string
	}{
		"policy=api":        {400, "key"},
		"policy=api&key=":   {400, "key"},
		"key=a":             {400, "policy"},
		"policy=&key=a":     {400, "policy"},
		"policy=api&key=%f": {400, ""},
		"policy=api&key=" + strings.Repeat("k", policy.MaxKeyBytes+1): {400, "key"},
		"policy=nope&key=a": {404, "policy"},
		"policy=lost&key=a": {503, ""},
	} {
		wantProblem(t, serve(h, "GET", "/v1/cluster?"+query, ""), want.status, want.field, "")
	}
}
