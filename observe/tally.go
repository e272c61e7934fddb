package observe

import "github.com/prometheus/client_golang/prometheus"

// tally counts by result. The series of the results that it was made with are
// there from the start.
type tally struct {
	vec      *prometheus.CounterVec
	byResult map[string]prometheus.Counter // read-only once made
	other    string                        // what every other result is counted as
}

func newTally(o prometheus.CounterOpts, other string, results []string) tally {
	t := tally{
		vec:      prometheus.NewCounterVec(o, []string{"result"}),
		byResult: make(map[string]prometheus.Counter, len(results)),
		other:    other,
	}
	for _, r := range results {
		t.byResult[r] = t.vec.WithLabelValues(r)
	}
	return t
}

func (t *tally) count(result string) {
	if c := t.byResult[result]; c != nil {
		c.Inc()
		return
	}
	t.vec.WithLabelValues(t.other).Inc()
}
