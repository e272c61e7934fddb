package testcluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/murmurate/murmurate/policy"
)

// Settlement is a request that a [Limiter] has admitted with a receipt, and
// what it was settled at.
type Settlement struct {
	Request policy.Request
	Cost    int64
}

// admission is a request that was given a receipt.
type admission struct {
	request  policy.Request
	decision policy.Decision
	settled  bool
}

// receipt makes the receipt of a request that was admitted. The caller holds
// the lock.
func (l *Limiter) receipt(r policy.Request, d policy.Decision) string {
	if l.admits == nil {
		l.admits = make(map[string]*admission)
	}
	text := fmt.Sprintf("receipt-%d", len(l.calls))
	l.admits[text] = &admission{request: r, decision: d}
	return text
}

// Settle records the cost of a receipt that this Limiter has given, once, and
// answers as when it admitted the request. Receipts do not expire here.
func (l *Limiter) Settle(_ context.Context, receipt string, actual int64) (policy.Decision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.admits[receipt]
	switch {
	case a == nil:
		return policy.Decision{}, &policy.InputError{Field: "receipt", Detail: "was not given by this double"}
	case actual < 0:
		return policy.Decision{}, &policy.InputError{Field: "cost", Detail: fmt.Sprintf("must not be negative, got %d", actual)}
	}
	if !a.settled {
		a.settled = true
		l.closed = append(l.closed, Settlement{a.request, actual})
	}
	d := a.decision
	d.Cost = actual
	return d, nil
}

// SettleSoon is Settle.
func (l *Limiter) SettleSoon(receipt string, actual int64) {
	_, _ = l.Settle(context.Background(), receipt, actual) // a node tells its log
}

// Settled returns what was settled so far, in order.
func (l *Limiter) Settled() []Settlement {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.closed)
}
