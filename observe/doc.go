// Package observe counts what a node does, for Prometheus to read.
//
// [New] makes the metrics of one node in a registry of their own. On the way
// of a check the node calls [Metrics.Decision], and [Metrics.Forward] when
// another node was asked; each finds its counter in a map that is never
// written to and adds one. What the node can be asked for at any time (keys,
// members, the last reload) is read through functions when somebody scrapes
// [Metrics.Handler].
//
// Guaranteed: the number of series depends on the configured policies only,
// never on what callers send, and no rate-limit key is ever a label. Not
// here: logs and traces.
package observe
