package observe

import (
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Options says what there is to observe. The zero value observes decisions
// on inline limits only.
type Options struct {
	// Version is the product version, for build_info.
	Version string
	// Policies are the names of the configured policies. Their series exist
	// from the start, at 0; see also [Metrics.AddPolicies].
	Policies []string
	// Forwards are the results that a call to another node can have. Any
	// other result is counted as "other".
	Forwards []string
	// Members returns the number of members by state; a state that no member
	// is in should be there with 0. Nil: there is no such metric. It is
	// called on each scrape, like Keys.
	Members func() map[string]int
	// Keys returns the number of counters held. Nil: there is no such metric.
	Keys func() int
	// Overrides returns the number of overrides in force that were set at run
	// time. Nil: there is no such metric. It is called on each scrape.
	Overrides func() int
	// WithoutAddress returns how many requests had no address of a client; it
	// only grows. Nil: there is no such metric. It is called on each scrape.
	WithoutAddress func() uint64
	// Unheeded returns how many requests named a client's address that did not
	// count; it only grows. Nil: there is no such metric. It is called on each
	// scrape.
	Unheeded func() uint64
	// Reload returns how the last reload of the configuration went. Nil:
	// there are no such metrics. It is called on each scrape.
	Reload func() Reload
}

// Metrics are the metrics of one node. All methods are safe for concurrent
// use.
type Metrics struct {
	registry    *prometheus.Registry
	decisions   *decisions
	denials     denials
	quotas      *quotas
	settlements tally
	forwards    tally
}

// New makes the metrics and a registry that holds nothing else.
func New(o Options) *Metrics {
	m := &Metrics{
		registry:    prometheus.NewRegistry(),
		decisions:   newDecisions(),
		denials:     newDenials(),
		quotas:      newQuotas(),
		settlements: newSettlements(),
		forwards:    newForwards(o.Forwards),
	}
	m.decisions.add(o.Policies...)
	m.registry.MustRegister(
		m.decisions.vec,
		m.denials.limits,
		m.denials.tiers,
		m.quotas,
		m.settlements.vec,
		m.forwards.vec,
		buildInfo(o.Version),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	if o.Members != nil {
		m.registry.MustRegister(members(o.Members))
	}
	if o.Keys != nil {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "murmurate_keys",
			Help: "Counters that this node holds in memory, its own and those of its local shares.",
		}, func() float64 { return float64(o.Keys()) }))
	}
	if o.Overrides != nil {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "murmurate_overrides",
			Help: "Overrides that were set at run time, on any node, as this node knows them.",
		}, func() float64 { return float64(o.Overrides()) }))
	}
	if o.WithoutAddress != nil {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "murmurate_requests_without_address_total",
			Help: "Requests of gateways whose client has no address, such as one on a Unix socket; they share a key.",
		}, func() float64 { return float64(o.WithoutAddress()) }))
	}
	if o.Unheeded != nil {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "murmurate_unheeded_client_addresses_total",
			Help: "Requests of gateways that name a client's address which does not count: the gateway is not in http.trusted_proxies, " +
				"or names it in another field than http.client_ip_header; its clients share a key.",
		}, func() float64 { return float64(o.Unheeded()) }))
	}
	if o.Reload != nil {
		m.registry.MustRegister(reload(o.Reload))
	}
	return m
}

// Handler answers scrapes in the text format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		// One broken collector (a process without /proc) costs its own series only.
		ErrorHandling: promhttp.ContinueOnError,
	})
}

func buildInfo(version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "murmurate_build_info",
		Help:        "Always 1; the labels say which version runs and which Go built it.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}
