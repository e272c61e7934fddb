package observe

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// quotas is the highest use of each quota. There is no label for keys, so the
// number of series is bounded.
type quotas struct {
	now func() time.Time

	mu      sync.Mutex
	highest map[quota]use
}

// quota is one limit of one policy.
type quota struct{ policy, limit string }

// use is the part of a quota that one key has used, until its period ends.
type use struct {
	ratio float64
	ends  time.Time
}

var quotaUseDesc = prometheus.NewDesc("murmurate_quota_used_ratio",
	"The highest use of a quota by any one key in its present period, of what this node was asked, by policy and limit; 1 is used up.",
	[]string{"policy", "limit"}, nil)

func newQuotas() *quotas { return &quotas{now: time.Now, highest: make(map[quota]use)} }

// see takes in one key's use.
func (q *quotas) see(of quota, u use) {
	q.mu.Lock()
	defer q.mu.Unlock()
	known, ok := q.highest[of]
	if !ok || u.ratio >= known.ratio || !known.ends.After(q.now()) {
		q.highest[of] = u
	}
}

// Describe implements prometheus.Collector.
func (q *quotas) Describe(ch chan<- *prometheus.Desc) { ch <- quotaUseDesc }

// Collect implements prometheus.Collector. A use whose period has ended is 0
// until the next check.
func (q *quotas) Collect(ch chan<- prometheus.Metric) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for of, u := range q.highest {
		if !u.ends.After(q.now()) {
			u.ratio = 0
		}
		ch <- prometheus.MustNewConstMetric(quotaUseDesc, prometheus.GaugeValue, u.ratio, of.policy, of.limit)
	}
}

// QuotaUsed takes in how much of a quota one key has used, 0 to 1, and the
// time until its period ends. Both names are the configuration's.
func (m *Metrics) QuotaUsed(policyName, limitName string, ratio float64, rest time.Duration) {
	m.quotas.see(quota{m.decisions.known(policyName), limitName}, use{ratio, m.quotas.now().Add(rest)})
}
