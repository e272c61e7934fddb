package murmurate_test

import (
	"testing"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Somebody who resets "k" means the requests that have k where the policy looks
// for its key, and those who checked with the key k.
func TestResetMeansTheKeyThatThePolicyMakes(t *testing.T) {
	t.Parallel()
	node := start(t, murmurate.Options{Alone: true, Policies: policies(t,
		policy.Policy{Name: "p", Key: []string{"attr:user | ip"}, Limits: []limiter.Limit{hourly(5)}},
		policy.Policy{Name: "all", Key: []string{"global"}, Limits: []limiter.Limit{hourly(5)}},
	)})
	ctx := t.Context()
	for _, tt := range []struct {
		policy, reset string
		spent, kept   []string // keys that are charged before; afterwards these are as if unused, and those are not
	}{
		{"p", "k", []string{"k", "attr:user=k"}, []string{"other", "attr:user=other"}},
		{"p", "attr:user=a", []string{"attr:user=a"}, []string{"a"}},
		{"p", "x&y", []string{"x&y", "attr:user=x%26y"}, []string{"x"}},
		{"all", "whoever", []string{"global"}, nil},
	} {
		for _, key := range append(tt.spent, tt.kept...) {
			if _, err := node.Allow(ctx, tt.policy, key); err != nil {
				t.Fatal(err)
			}
		}
		if d, err := node.Reset(ctx, tt.policy, tt.reset); err != nil || d.Remaining != 5 {
			t.Errorf("%s: %v, %d left", tt.reset, err, d.Remaining)
		}
		left := func(keys []string, want int64) {
			for _, key := range keys {
				if d, err := node.Peek(ctx, tt.policy, key); err != nil || d.Remaining != want {
					t.Errorf("after %s, %s: %v, %d left, want %d", tt.reset, key, err, d.Remaining, want)
				}
			}
		}
		left(tt.spent, 5)
		left(tt.kept, 4)
	}
}
