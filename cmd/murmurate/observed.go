package main

import (
	"context"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/observe"
)

// startObserved starts a node with metrics of its own: those that the node is
// the source of, and those that m has already.
func startObserved(ctx context.Context, o murmurate.Options, m observe.Options) (*murmurate.Node, *observe.Metrics, error) {
	var node *murmurate.Node // read when somebody scrapes, which is after the start
	m.Version = murmurate.Version()
	m.Policies = o.Policies.Names()
	m.Forwards = forwards()
	m.Members = func() map[string]int { return byState(node.Members()) }
	m.Keys = func() int { return node.Keys() }
	m.Overrides = func() int { return len(node.Overrides()) }
	metrics := observe.New(m)
	o.Observer = metrics
	node, err := murmurate.Start(ctx, o)
	return node, metrics, err
}

// byState counts members by their state; every state is there.
func byState(members []cluster.MemberStatus) map[string]int {
	counts := make(map[string]int)
	for _, s := range cluster.States() {
		counts[s.String()] = 0
	}
	for _, m := range members {
		counts[m.State.String()]++
	}
	return counts
}

// forwards names what can become of a forwarded check.
func forwards() []string {
	var names []string
	for _, f := range cluster.Forwards() {
		names = append(names, string(f))
	}
	return names
}
