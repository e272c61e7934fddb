package memnet

import (
	"net/netip"
	"time"
)

const (
	// retransmitAfter is how long a sender waits before it sends lost bytes
	// again, and twice as long each further time: the least that Linux takes.
	retransmitAfter = 200 * time.Millisecond
	// redialAfter is the same for the first packets of a connection (RFC
	// 6298, section 2.1).
	redialAfter = time.Second
	// maxRetransmits bounds the losses in a row of the same bytes.
	maxRetransmits = 6
)

// link is one direction between two hosts.
type link struct{ from, to netip.Addr }

// faults is what is wrong with the network as a whole.
type faults struct {
	cut             map[link]bool
	base, jitter    time.Duration
	loss, duplicate float64
}

// Cut ends all traffic between a and b, both ways, until Heal.
func (n *Network) Cut(a, b netip.Addr) {
	n.cut(link{a, b}, link{b, a})
}

// CutOneWay ends all traffic from one host to another, until Heal.
func (n *Network) CutOneWay(from, to netip.Addr) {
	n.cut(link{from, to})
}

func (n *Network) cut(links ...link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range links {
		n.faults.cut[l] = true
	}
	n.reroute()
}

// Heal undoes every Cut and CutOneWay.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.faults.cut)
	n.reroute()
}

// Delay sets how long everything takes that is sent from now on, in one
// direction between any two hosts: base, and at random up to jitter more.
func (n *Network) Delay(base, jitter time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.base, n.faults.jitter = base, jitter
}

// Loss sets the probability, 0 to 1, with which a packet is lost, and with
// which what is written to a stream has to be sent again.
func (n *Network) Loss(p float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.loss = p
}

// Duplicate sets the probability, 0 to 1, with which a packet arrives twice.
func (n *Network) Duplicate(p float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.duplicate = p
}

// blocked reports whether nothing gets from one host to another now. The
// caller holds the lock, here and below.
func (n *Network) blocked(from, to netip.Addr) bool {
	return n.faults.cut[link{from, to}] || n.paused(from) || n.paused(to)
}

func (n *Network) paused(addr netip.Addr) bool {
	h := n.hosts[addr]
	return h != nil && h.paused
}

// delay draws how long something takes from one host to another.
func (n *Network) delay(from, to netip.Addr) time.Duration {
	d := n.faults.base
	if n.faults.jitter > 0 {
		d += time.Duration(n.random.Int64N(int64(n.faults.jitter) + 1))
	}
	for _, addr := range []netip.Addr{from, to} {
		if h := n.hosts[addr]; h != nil {
			d += h.slow
		}
	}
	return d
}

// happens draws whether something of probability p does.
func (n *Network) happens(p float64) bool { return p > 0 && n.random.Float64() < p }

// retransmission draws how much later something arrives that is sent again
// until it is not lost.
func (n *Network) retransmission(first time.Duration) time.Duration {
	var late time.Duration
	for range maxRetransmits {
		if !n.happens(n.faults.loss) {
			break
		}
		late += first
		first *= 2
	}
	return late
}
