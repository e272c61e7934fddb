package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Reload is how it went when the configuration was read last.
type Reload struct {
	// OK is whether it is in force.
	OK bool
	// Success is when the one that is in force was read.
	Success time.Time
}

// reload asks for both at once, so that a scrape never sees a success with
// the time of the one before.
type reload func() Reload

var (
	reloadOKDesc = prometheus.NewDesc("murmurate_config_last_reload_successful",
		"1 if the configuration that was read last is in force, 0 if it has faults and an earlier one is.", nil, nil)
	reloadSuccessDesc = prometheus.NewDesc("murmurate_config_last_reload_success_timestamp_seconds",
		"When the configuration that is in force was read, in Unix time.", nil, nil)
)

// Describe implements prometheus.Collector.
func (r reload) Describe(ch chan<- *prometheus.Desc) {
	ch <- reloadOKDesc
	ch <- reloadSuccessDesc
}

// Collect implements prometheus.Collector.
func (r reload) Collect(ch chan<- prometheus.Metric) {
	last := r()
	ok := 0.0
	if last.OK {
		ok = 1
	}
	ch <- prometheus.MustNewConstMetric(reloadOKDesc, prometheus.GaugeValue, ok)
	ch <- prometheus.MustNewConstMetric(reloadSuccessDesc, prometheus.GaugeValue, float64(last.Success.UnixMilli())/1e3)
}
