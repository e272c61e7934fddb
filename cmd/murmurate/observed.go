package main

import (
	"context"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/observe"
)

// startObserved starts a node with metrics of its own. Without a configuration
// to reload, reload is nil.
func startObserved(ctx context.Context, o murmurate.Options, reload func() observe.Reload) (*murmurate.Node, *observe.Metrics, error) {
	var node *murmurate.Node // read when somebody scrapes, which is after the start
	metrics := observe.New(observe.Options{
		Version:  murmurate.Version(),
		Policies: o.Policies.Names(),
		Forwards: forwards(),
		Members:  func() map[string]int { return byState(node.Members()) },
		Keys:     func() int { return node.Keys() },
		Reload:   reload,
	})
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
