package observe

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/murmurate/murmurate/limiter"
)

// Results of a decision.
const (
	// ResultAllowed means that the request may proceed.
	ResultAllowed = "allowed"
	// ResultDenied means that a limit was used up.
	ResultDenied = "denied"
	// ResultShadowDenied means that a limit was used up, and that the request
	// may proceed because its policy only observes.
	ResultShadowDenied = "shadow_denied"
	// ResultError means that the request was denied because nobody could count.
	ResultError = "error"
)

var results = [...]string{ResultAllowed, ResultDenied, ResultShadowDenied, ResultError}

// usual holds the sources that each result normally comes from. Their series
// are there from the start, so that the first event shows in a rate.
var usual = map[string][]limiter.Source{
	ResultAllowed:      {limiter.SourceOwner, limiter.SourceShare, limiter.SourceFailOpen, limiter.SourceNone},
	ResultDenied:       {limiter.SourceOwner, limiter.SourceShare},
	ResultShadowDenied: {limiter.SourceOwner, limiter.SourceShare},
	ResultError:        {limiter.SourceFailClosed},
}

// InlinePolicy is the policy label of decisions on limits that callers made.
const InlinePolicy = "inline"

// UnknownPolicy is the policy label of decisions under a name that was never
// announced. It bounds the number of series whatever is passed in.
const UnknownPolicy = "unknown"

// counters are the series of one policy, by index of result and by source.
// nil: not usual, so made when first needed.
type counters [len(results)][limiter.SourceNone + 1]prometheus.Counter

// decisions counts decisions by policy, result and source.
type decisions struct {
	vec *prometheus.CounterVec

	adding sync.Mutex
	// byPolicy is replaced, never written to, so that counting takes no lock.
	byPolicy atomic.Pointer[map[string]*counters]
}

func newDecisions() *decisions {
	d := &decisions{vec: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "murmurate_decisions_total",
		Help: "Decisions by policy, result (allowed, denied, shadow_denied, or error when nobody could count) and source (where the decision came from).",
	}, []string{"policy", "result", "source"})}
	d.byPolicy.Store(&map[string]*counters{})
	d.add(InlinePolicy)
	return d
}

// add makes the series of policies that do not have them yet.
func (d *decisions) add(policies ...string) {
	d.adding.Lock()
	defer d.adding.Unlock()
	known := maps.Clone(*d.byPolicy.Load())
	for _, name := range policies {
		if known[name] == nil {
			known[name] = d.series(name)
		}
	}
	d.byPolicy.Store(&known)
}

func (d *decisions) series(policyName string) *counters {
	c := new(counters)
	for i, result := range results {
		for _, source := range usual[result] {
			c[i][source] = d.vec.WithLabelValues(policyName, result, source.String())
		}
	}
	return c
}

// count is on the way of every check: the vector's own look-up by label
// values would cost several times as much.
func (d *decisions) count(policyName, result string, source limiter.Source) {
	i := slices.Index(results[:], result)
	known := (*d.byPolicy.Load())[policyName]
	if known != nil && i >= 0 && int(source) < len(known[i]) {
		if c := known[i][source]; c != nil {
			c.Inc()
			return
		}
	}
	if known == nil {
		policyName = UnknownPolicy
	}
	if i < 0 {
		result = ResultError
	}
	d.vec.WithLabelValues(policyName, result, source.String()).Inc()
}

// known is the label of a policy.
func (d *decisions) known(policyName string) string {
	if (*d.byPolicy.Load())[policyName] == nil {
		return UnknownPolicy
	}
	return policyName
}

// Decision counts one decision. policyName is the policy's name, or
// [InlinePolicy] for every limit that a caller made; result is one of
// the Result constants.
func (m *Metrics) Decision(policyName, result string, source limiter.Source) {
	m.decisions.count(policyName, result, source)
}

// AddPolicies makes the series of further policies, at 0, as when the
// configuration was reloaded. Known ones are left alone, and none is ever
// taken away: a counter that vanishes looks like a restart.
func (m *Metrics) AddPolicies(names ...string) { m.decisions.add(names...) }
