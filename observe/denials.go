package observe

import "github.com/prometheus/client_golang/prometheus"

// denials count what stood against requests, by policy.
type denials struct {
	limits *prometheus.CounterVec
	tiers  *prometheus.CounterVec
}

func newDenials() denials {
	return denials{
		limits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "murmurate_denials_total",
			Help: "Requests that a limit denied, by policy and limit, those in shadow included.",
		}, []string{"policy", "limit"}),
		tiers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "murmurate_unknown_tiers_total",
			Help: "Requests of a tier that the policy does not have, which got its own limits.",
		}, []string{"policy"}),
	}
}

// Denied counts one limit that denied a request. Both names are the
// configuration's, so the series are bounded; for limits that callers made
// both are [InlinePolicy].
func (m *Metrics) Denied(policyName, limitName string) {
	if policyName == InlinePolicy {
		limitName = InlinePolicy
	}
	m.denials.limits.WithLabelValues(m.decisions.known(policyName), limitName).Inc()
}

// UnknownTier counts one request of a tier that its policy does not have.
func (m *Metrics) UnknownTier(policyName string) {
	m.denials.tiers.WithLabelValues(m.decisions.known(policyName)).Inc()
}
