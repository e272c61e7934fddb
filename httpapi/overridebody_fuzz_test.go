package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/murmurate/murmurate/policy"
)

// FuzzDecodeOverride: what is accepted is an override that the policy can
// have, and no fault is anything but the client's.
func FuzzDecodeOverride(f *testing.F) {
	for _, seed := range []string{
		`{"limits":[{"name":"burst","rate":"200/s","burst":400},{"name":"minute","count":5,"period":"h"}],"expires_in":"24h"}`,
		`{"unlimited":true,"blocked":null}`, `{"blocked":true,"expires_in":"366d"}`, `{"limits":[{}, 1, null, [{}]]}`,
		`{"limits":[{"name":"burst","name":"burst","x":{"}":"]"}}],"\ud83d":1,"":2,"":3}`, `[]`, `{}`, ``, `{"limits":{}}`,
	} {
		f.Add([]byte(seed))
	}
	set, err := policy.NewSet(api())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := decodeOverride(body, set, "api")
		if err != nil {
			if p := problemOf(err); !errors.Is(err, policy.ErrInput) || p.Status != http.StatusBadRequest || p.Detail == "" {
				t.Fatalf("%q: %v is answered with %+v", body, err, p)
			}
			return
		}
		o.Key = "k"
		if err := set.CheckOverride("api", &o.Override); err != nil || !json.Valid(body) || o.expiresIn < 0 || o.expiresIn > maxExpiry {
			t.Fatalf("%q was accepted as %+v (%v)", body, o, err)
		}
	})
}
