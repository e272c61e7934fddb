package httpapi_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/policy"
)

// A request can have a slot and a cost that is known afterwards: by one policy
// or several, whether it is charged an estimate or nothing before, and whether
// it waits for the slot or not.
func TestCostAfterASlot(t *testing.T) {
	t.Parallel()
	units := bucket("units", 100)
	both := atOnce("both", 1)
	both.Limits[0].Name = "slots"
	both.Limits = append(both.Limits, units.Limits[0].WithName("units"))
	bytes := func(_ int, _ http.Header, bytes int64, _ time.Duration) int64 { return bytes }
	for name, test := range map[string]struct {
		policies []policy.Policy
		limit    int // of the last policy, the one with units
		options  []httpapi.Option
		during   int64 // units left while the handler runs
	}{
		"one policy":          {[]policy.Policy{both}, 1, nil, 99},
		"two policies":        {[]policy.Policy{atOnce("slots", 1), units}, 0, nil, 99},
		"without an estimate": {[]policy.Policy{both}, 1, []httpapi.Option{httpapi.WithoutEstimate()}, 100},
		"after waiting":       {[]policy.Policy{both}, 1, []httpapi.Option{httpapi.WithConcurrency(time.Minute)}, 99},
		"waiting for free":    {[]policy.Policy{both}, 1, []httpapi.Option{httpapi.WithConcurrency(time.Minute), httpapi.WithoutEstimate()}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				node := alone(t, test.policies...)
				last := test.policies[len(test.policies)-1].Name
				remaining := func(policyName string, limit int) int64 {
					d, err := node.Peek(t.Context(), policyName, keyOfSend)
					if err != nil {
						t.Fatal(err)
					}
					return d.Limits[limit].Remaining
				}
				app := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if slots, units := remaining(test.policies[0].Name, 0), remaining(last, test.limit); slots != 0 || units != test.during {
						t.Errorf("while it is served: %d slots, %d units", slots, units)
					}
					_, _ = w.Write(make([]byte, 30))
				})
				h := httpapi.Middleware(node, byKey, append(test.options, httpapi.WithCostAfter(bytes))...)(app)
				if w := send(h); w.Code != http.StatusOK {
					t.Fatalf("%d %s", w.Code, w.Body)
				}
				if slots, units := remaining(test.policies[0].Name, 0), remaining(last, test.limit); slots != 1 || units != 70 {
					t.Errorf("served: %d slots, %d units", slots, units)
				}
			})
		})
	}
}
