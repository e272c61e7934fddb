package memnet

import (
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/hashicorp/memberlist"
)

// packetQueue is how many packets wait at a socket, or for a paused host.
// Those beyond are lost.
const packetQueue = 1024

// packet is one that was sent.
type packet struct {
	from, to netip.AddrPort
	bytes    []byte
	at       time.Time // when it arrives
}

// send puts a packet on its way, once, twice or not at all. The caller holds
// the lock, here and below.
func (n *Network) send(p packet) {
	if n.stopped(p) || n.happens(n.faults.loss) {
		return
	}
	n.launch(p)
	if n.happens(n.faults.duplicate) {
		n.launch(p)
	}
}

// stopped reports whether a packet goes no further: a cut loses it, a paused
// host keeps it.
func (n *Network) stopped(p packet) bool {
	if n.faults.cut[link{p.from.Addr(), p.to.Addr()}] {
		return true
	}
	for _, addr := range []netip.Addr{p.from.Addr(), p.to.Addr()} {
		if n.paused(addr) {
			if h := n.hosts[addr]; len(h.held) < packetQueue {
				h.held = append(h.held, p)
			}
			return true
		}
	}
	return false
}

// launch delivers a packet, or lets it fly until its instant.
func (n *Network) launch(p packet) {
	now := time.Now()
	p.at = now.Add(n.delay(p.from.Addr(), p.to.Addr()))
	if !p.at.After(now) {
		n.deliver(p, now)
		return
	}
	i, _ := slices.BinarySearchFunc(n.flying, p, func(a, b packet) int {
		if a.at.After(b.at) {
			return 1
		}
		return -1 // behind those of the same instant
	})
	n.flying = slices.Insert(n.flying, i, p)
	if i == 0 {
		n.schedule(now)
	}
}

// schedule sets the courier for the first packet.
func (n *Network) schedule(now time.Time) {
	wait := n.flying[0].at.Sub(now)
	if n.courier == nil {
		n.courier = time.AfterFunc(wait, n.deliverDue)
		return
	}
	n.courier.Reset(wait)
}

// deliverDue delivers the packets whose instant has come. It takes the lock.
func (n *Network) deliverDue() {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	due := 0
	for due < len(n.flying) && !n.flying[due].at.After(now) {
		if p := n.flying[due]; !n.stopped(p) {
			n.deliver(p, now)
		}
		due++
	}
	n.flying = slices.Delete(n.flying, 0, due)
	if len(n.flying) > 0 {
		n.schedule(now)
	}
}

// deliver puts a packet into the queue of its socket, if there is one and it
// has room.
func (n *Network) deliver(p packet, now time.Time) {
	h := n.hosts[p.to.Addr()]
	if h == nil || h.sockets[p.to.Port()] == nil {
		return
	}
	received := &memberlist.Packet{Buf: slices.Clone(p.bytes), From: net.UDPAddrFromAddrPort(p.from), Timestamp: now}
	select {
	case h.sockets[p.to.Port()].packets <- received:
	default:
	}
}
