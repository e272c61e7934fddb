package murmurate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/internal/receipt"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// Settle charges what a request has really cost, in units, in place of the
// estimate that it was admitted for. The receipt is that of its Decision, and
// actual is charged to each policy that applied. It may be 0.
//
// What is missing is charged whatever the limits say: a limit that then owes
// more than it holds denies until that has drained. What is too much is given
// back as far as it still counts: not if it has drained meanwhile, or its
// window is over. Any node settles, and a receipt only once: settling again,
// at any node, answers the same way and changes nothing, whatever the cost: that of
// the first counts, and Decision.Cost is only what was asked for now.
//
// The Decision shows the counters afterwards and always admits. A policy whose
// owner could not be asked at the time of the check has a source other than
// limiter.SourceOwner: what was taken from a share is settled by the node that
// did so, and where nobody has counted (limiter.SourceFailOpen) there is
// nothing to settle.
//
// policy.ErrInput: the receipt is none of this cluster's or has expired
// (policy.ErrReceiptExpired), or actual is negative or more than
// limiter.MaxCount; nothing was changed. Any other error says which policies
// are settled and which are not; settling again mends the rest.
func (n *Node) Settle(ctx context.Context, receiptText string, actual int64) (policy.Decision, error) {
	r, err := n.settleable(receiptText, actual)
	if err != nil {
		return policy.Decision{}, err
	}
	return n.settle(ctx, r, actual)
}

// Outcomes of a settlement, as an [Observer] hears them.
const (
	outcomeSettled = "settled"
	outcomeRefused = "refused"
	outcomeFailed  = "failed"
)

// settleable is the receipt that is to be settled.
func (n *Node) settleable(receiptText string, actual int64) (*receipt.Receipt, error) {
	r, err := n.openReceipt(receiptText, actual)
	if err != nil {
		n.options.Observer.Settlement(outcomeRefused)
	}
	return r, err
}

func (n *Node) openReceipt(receiptText string, actual int64) (*receipt.Receipt, error) {
	if actual < 0 || actual > limiter.MaxCount {
		return nil, &policy.InputError{Field: "cost", Detail: fmt.Sprintf("must be 0 to %d, got %d", int64(limiter.MaxCount), actual)}
	}
	r, err := n.receipts.Open(receiptText, time.Now())
	if err != nil {
		return nil, &policy.InputError{Field: "receipt", Detail: err.Error(), Expired: errors.Is(err, receipt.ErrExpired)}
	}
	return r, nil
}

func (n *Node) settle(ctx context.Context, r *receipt.Receipt, actual int64) (policy.Decision, error) {
	d, err := n.settleAll(ctx, r, actual)
	outcome := outcomeSettled
	if err != nil {
		outcome = outcomeFailed
	}
	n.options.Observer.Settlement(outcome)
	return d, err
}

// settleAll settles all parts of r.
func (n *Node) settleAll(ctx context.Context, r *receipt.Receipt, actual int64) (policy.Decision, error) {
	if len(r.Parts) == 0 {
		return policy.Decision{Result: limiter.Result{Allowed: true, Source: limiter.SourceNone}, Cost: actual}, nil
	}
	if n.hasEnded() {
		return policy.Decision{}, ErrClosed
	}
	parts := make([]settlement, len(r.Parts))
	var asks []cluster.Ask
	var asked []int // of parts
	for i := range r.Parts {
		parts[i].prepare(r, i, actual)
		if r.Parts[i].Place == receipt.Owner {
			asks = append(asks, cluster.Ask{Call: &parts[i].call, Results: parts[i].results})
			asked = append(asked, i)
		} else {
			parts[i].err = n.settleHere(r, &parts[i])
		}
	}
	n.router.DoAll(ctx, asks, func(int) {}) // no failure mode: it can be tried again
	for j, i := range asked {
		parts[i].err = asks[j].Err
	}
	if err := unsettled(parts); err != nil {
		return policy.Decision{}, err
	}
	decisions := make([]policy.Decision, len(parts))
	for i := range parts {
		decisions[i] = parts[i].plan.Decide(actual, parts[i].results)
		decisions[i].Cost = actual
	}
	return policy.Combine(decisions[0], decisions[1:]...), nil
}

// settleHere settles what no owner has charged: from this node's shares, or
// not at all.
func (n *Node) settleHere(r *receipt.Receipt, s *settlement) error {
	if s.part.Place == receipt.Share && r.Node == n.options.Name {
		return n.share.Do(&s.call, s.results)
	}
	for i := range s.results {
		s.results[i] = limiter.Result{Allowed: true, Source: limiter.SourceFailOpen, Limit: s.part.Limits[i].Count}
	}
	return nil
}

// settlement settles one part of a receipt.
type settlement struct {
	part    *receipt.Part
	plan    *policy.Plan
	call    limiter.Call
	results []limiter.Result
	err     error
}

// prepare makes s the settlement of part i of r.
func (s *settlement) prepare(r *receipt.Receipt, i int, actual int64) {
	s.part = &r.Parts[i]
	s.plan = policy.NewPlan(&policy.Policy{Name: s.part.Policy, Shadow: s.part.Shadow, Limits: s.part.Limits})
	s.call = limiter.Call{
		Op:      limiter.Settle,
		Subject: s.part.Subject,
		Receipt: r.ID,
		Charged: s.part.Charged,
		Charges: s.plan.Charges(nil, 0),
	}
	for j := range s.call.Charges {
		s.call.Charges[j].Cost = actual
	}
	s.results = make([]limiter.Result, len(s.call.Charges))
}

// unsettled is the error of those parts that were not settled.
func unsettled(parts []settlement) error {
	var done, failed []string
	var causes []error
	for i := range parts {
		name := parts[i].part.Policy
		if err := parts[i].err; err != nil {
			failed, causes = append(failed, name), append(causes, err)
		} else {
			done = append(done, name)
		}
	}
	if causes == nil {
		return nil
	}
	also := ""
	if done != nil {
		also = fmt.Sprintf(" (settled for %s)", strings.Join(done, ", "))
	}
	return fmt.Errorf("murmurate: not settled for %s%s; settle again with the same receipt: %w",
		strings.Join(failed, ", "), also, errors.Join(causes...))
}
