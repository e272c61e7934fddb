package httpapi

import (
	"context"

	"github.com/murmurate/murmurate/policy"
)

// decisionKey is the key of a context's decision.
type decisionKey struct{}

// DecisionFrom returns what the [Middleware] decided about the request of
// ctx. If several policies applied, or several middlewares, it is their
// decisions in one; see [policy.Combine]. ok is false if none decided. The
// decision is for reading only.
func DecisionFrom(ctx context.Context) (d policy.Decision, ok bool) {
	if stored, ok := ctx.Value(decisionKey{}).(*policy.Decision); ok {
		return *stored, true
	}
	return policy.Decision{}, false
}

func withDecision(ctx context.Context, d *policy.Decision) context.Context {
	return context.WithValue(ctx, decisionKey{}, d)
}
