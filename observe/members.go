package observe

import "github.com/prometheus/client_golang/prometheus"

// members asks for the members on each scrape. A vector of gauges would keep
// the states that no member is in any more at their last number.
type members func() map[string]int

var membersDesc = prometheus.NewDesc("murmurate_cluster_members",
	"Members of the cluster as this node sees them, itself included, by state.", []string{"state"}, nil)

// Describe implements prometheus.Collector.
func (m members) Describe(ch chan<- *prometheus.Desc) { ch <- membersDesc }

// Collect implements prometheus.Collector.
func (m members) Collect(ch chan<- prometheus.Metric) {
	for state, n := range m() {
		ch <- prometheus.MustNewConstMetric(membersDesc, prometheus.GaugeValue, float64(n), state)
	}
}
