package observe

import "github.com/prometheus/client_golang/prometheus"

// otherForward is the result label of forwards whose result was not announced.
const otherForward = "other"

// forwards counts the calls to other nodes by result.
type forwards struct {
	vec      *prometheus.CounterVec
	byResult map[string]prometheus.Counter // read-only once made
}

func newForwards(results []string) forwards {
	f := forwards{
		vec: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "murmurate_forward_calls_total",
			Help: "Checks that this node sent to the node that counts their key, by what became of them.",
		}, []string{"result"}),
		byResult: make(map[string]prometheus.Counter, len(results)),
	}
	for _, r := range results {
		f.byResult[r] = f.vec.WithLabelValues(r)
	}
	return f
}

// Forward counts one call to another node. result is one of Options.Forwards.
func (m *Metrics) Forward(result string) {
	if c := m.forwards.byResult[result]; c != nil {
		c.Inc()
		return
	}
	m.forwards.vec.WithLabelValues(otherForward).Inc()
}
