package murmurate_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// observer counts what it hears.
type observer struct {
	mu   sync.Mutex
	seen map[string]int
}

func (o *observer) Decision(policyName, outcome string, source limiter.Source) {
	o.count(fmt.Sprintf("%s %s %v", policyName, outcome, source))
}

func (o *observer) Denied(policyName, limitName string) {
	o.count(fmt.Sprintf("%s over %s", policyName, limitName))
}

func (o *observer) QuotaUsed(policyName, limitName string, ratio float64, _ time.Duration) {
	o.count(fmt.Sprintf("%s/%s used %g", policyName, limitName, ratio))
}
func (o *observer) UnknownTier(policyName string) { o.count(policyName + " without a tier") }

func (o *observer) Settlement(outcome string) { o.count("receipt " + outcome) }

func (o *observer) Forward(outcome string) { o.count("forward " + outcome) }

func (o *observer) count(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil {
		o.seen = make(map[string]int)
	}
	o.seen[what]++
}

func (o *observer) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(o.seen)) {
		lines = append(lines, fmt.Sprintf("%s %d", what, o.seen[what]))
	}
	return strings.Join(lines, ", ")
}

// lockedBuilder is a strings.Builder for concurrent use.
type lockedBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuilder) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuilder) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
