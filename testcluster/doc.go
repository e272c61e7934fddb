// Package testcluster lets tests run whole clusters inside the test process,
// without sleeping: on virtual time, over a network in memory that can be
// made to fail.
//
//	func TestSignup(t *testing.T) {
//		testcluster.Run(t, 3, func(t *testing.T, c *testcluster.Cluster) {
//			d, err := c.Node("n1").Allow(t.Context(), "api", "user:42")
//			...
//			time.Sleep(time.Minute) // takes no time
//		}, policies...)
//	}
//
// [Run] makes a testing/synctest bubble and a [Cluster] of real nodes in it:
// gossip, sessions and counters are those of production, and only the network
// below them is not. Nodes end by [Cluster.Stop] and [Cluster.Kill]; one that
// the application closes itself still counts as running. Inside the bubble time.Sleep, timers and deadlines are on
// virtual time, which goes on when every goroutine waits. [Lone] does the same
// with one node that needs no network. Nodes can be stopped, killed, started
// again and paused, and the network cut, slowed and made to lose packets.
//
// Code that only takes a decision needs no cluster: [Allowing], [Denying] and
// [Scripted] answer as they are told and record what they were asked.
//
// The order in which goroutines run is not repeatable, and neither are the
// choices of the gossip library: the same seed gives the same faults for the
// same traffic, and not the same traffic.
//
// Virtual time is not free: a cluster goes on gossiping and answering
// heartbeats, so that an hour of three nodes costs some seconds of a processor,
// and a day more than a minute. A lone node is idle: a month costs less than a
// second. The race detector makes both ten times as dear and more.
package testcluster
