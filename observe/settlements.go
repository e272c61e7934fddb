package observe

import "github.com/prometheus/client_golang/prometheus"

// Results of a settlement.
const (
	// ResultSettled means that the real cost is charged.
	ResultSettled = "settled"
	// ResultRefused means that the receipt or the cost was no good.
	ResultRefused = "refused"
	// ResultFailed means that it was not charged to every policy. The same
	// receipt can be settled again.
	ResultFailed = "failed"
)

// newSettlements counts the attempts to settle receipts.
func newSettlements() tally {
	return newTally(prometheus.CounterOpts{
		Name: "murmurate_settlements_total",
		Help: "Receipts that this node was to settle, by what became of it: settled, refused for good, or failed.",
	}, ResultFailed, []string{ResultSettled, ResultRefused, ResultFailed})
}

// Settlement counts one attempt to settle a receipt. result is one of
// [ResultSettled], [ResultRefused] and [ResultFailed]; any other is a failure.
func (m *Metrics) Settlement(result string) { m.settlements.count(result) }
