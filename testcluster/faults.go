package testcluster

import (
	"net/netip"
	"time"
)

// Pause holds everything that a node sends and is sent, until Resume. The
// node itself runs on and finds that nobody answers; what it decides
// meanwhile is its own.
func (c *Cluster) Pause(name string) {
	c.t.Helper()
	n := c.must(name)
	n.paused = true
	n.host.Pause()
}

// Resume undoes Pause.
func (c *Cluster) Resume(name string) {
	c.t.Helper()
	n := c.must(name)
	n.paused = false
	n.host.Resume()
}

// Cut ends all traffic, both ways, between every node of a and every one of
// b, until Heal.
func (c *Cluster) Cut(a, b []string) {
	c.t.Helper()
	c.CutOneWay(a, b)
	c.CutOneWay(b, a)
}

// CutOneWay ends all traffic from every node of one list to every one of the
// other, until Heal.
func (c *Cluster) CutOneWay(from, to []string) {
	c.t.Helper()
	for _, a := range from {
		for _, b := range to {
			if a != b {
				c.network.CutOneWay(c.known(a), c.known(b))
			}
		}
	}
}

// Heal undoes every Cut and CutOneWay.
func (c *Cluster) Heal() { c.network.Heal() }

// Delay sets how long everything takes that is sent from now on, in each
// direction: base, and at random up to jitter more, so that packets overtake
// each other.
func (c *Cluster) Delay(base, jitter time.Duration) { c.network.Delay(base, jitter) }

// Loss sets the probability, 0 to 1, with which a packet is lost, and with
// which what is written to a connection arrives late.
func (c *Cluster) Loss(p float64) { c.network.Loss(p) }

// Duplicate sets the probability, 0 to 1, with which a packet arrives twice.
func (c *Cluster) Duplicate(p float64) { c.network.Duplicate(p) }

// Slow sets how much longer everything takes that a node sends or receives,
// until it ends. 0: no longer.
func (c *Cluster) Slow(name string, extra time.Duration) {
	c.t.Helper()
	c.must(name).host.Slow(extra)
}

// known returns the address of a node that was started at some time.
func (c *Cluster) known(name string) netip.Addr {
	c.t.Helper()
	if c.nodes[name] == nil {
		c.t.Fatalf("testcluster: no node %q was ever started", name)
	}
	return c.address(name)
}
