package observe

import "github.com/prometheus/client_golang/prometheus"

// otherForward is the result label of forwards whose result was not announced.
const otherForward = "other"

// newForwards counts the calls to other nodes.
func newForwards(results []string) tally {
	return newTally(prometheus.CounterOpts{
		Name: "murmurate_forward_calls_total",
		Help: "Checks that this node sent to the node that counts their key, by what became of them.",
	}, otherForward, results)
}

// Forward counts one call to another node. result is one of Options.Forwards.
func (m *Metrics) Forward(result string) { m.forwards.count(result) }
