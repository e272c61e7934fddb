package cluster

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// addresses are the checked addresses of this node.
type addresses struct {
	// bind is where gossip listens; its port may be 0.
	bind netip.AddrPort
	// advertise is where others reach bind. Its port is 0 until gossip is
	// bound, if it follows bind's.
	advertise netip.AddrPort
}

// checkAddresses parses the addresses of o and refuses those by which other
// nodes could not reach this one. Its errors begin with the setting's name.
func checkAddresses(o *MembershipOptions) (addresses, error) {
	var a addresses
	var err error
	if a.bind, err = netip.ParseAddrPort(o.GossipAddress); err != nil {
		return a, fmt.Errorf("cluster.gossip (--gossip): %q must be an IP address and a port, such as 127.0.0.1:7381", o.GossipAddress)
	}
	if a.advertise, err = advertised(o.Advertise, a.bind); err != nil {
		return a, err
	}
	return a, errors.Join(reachableGossip(a, o.Join), reachablePeer(a, o.PeerAddress))
}

func advertised(setting string, bind netip.AddrPort) (netip.AddrPort, error) {
	if setting == "" {
		return bind, nil
	}
	if ap, err := netip.ParseAddrPort(setting); err == nil {
		return ap, nil
	}
	if ip, err := netip.ParseAddr(setting); err == nil {
		return netip.AddrPortFrom(ip, bind.Port()), nil
	}
	return netip.AddrPort{}, fmt.Errorf("cluster.advertise: %q must be an IP address, with or without a port", setting)
}

func reachableGossip(a addresses, join []string) error {
	ip := a.advertise.Addr()
	if ip.IsUnspecified() {
		return fmt.Errorf("cluster.gossip (--gossip): %s stands for every address of this host; set cluster.advertise to the one by which the other nodes reach it", ip)
	}
	if !ip.IsLoopback() {
		return nil
	}
	for _, seed := range join {
		if s, err := netip.ParseAddr(seedHost(seed)); err == nil && !s.IsLoopback() {
			return fmt.Errorf("cluster.gossip (--gossip): %s cannot be reached from %s, which this node is to join; set cluster.gossip or cluster.advertise to this host's address in that network", ip, s)
		}
	}
	return nil
}

func reachablePeer(a addresses, peer string) error {
	host, port, err := net.SplitHostPort(peer)
	if err != nil || host == "" {
		return fmt.Errorf("cluster.peer (--peer): %q must be the host:port by which the other nodes reach this one", peer)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("cluster.peer (--peer): %q must have a port from 1 to 65535", peer)
	}
	if len(peer) > maxAddressBytes {
		return fmt.Errorf("cluster.peer (--peer): must be at most %d bytes", maxAddressBytes)
	}
	ip, err := netip.ParseAddr(host)
	literal := err == nil // what a name stands for is for the other nodes to find
	if literal && ip.IsUnspecified() {
		return fmt.Errorf("cluster.peer (--peer): %s stands for every address of this host; set cluster.advertise to the one by which the other nodes reach it", ip)
	}
	if literal && ip.IsLoopback() && !a.advertise.Addr().IsLoopback() {
		return fmt.Errorf("cluster.peer (--peer): %s cannot be reached by the nodes that reach gossip at %s; set cluster.peer to an address in that network", ip, a.advertise.Addr())
	}
	return nil
}

// seedHost is the host of an entry of Join, with or without a port.
func seedHost(seed string) string {
	if host, _, err := net.SplitHostPort(seed); err == nil {
		return host
	}
	return seed
}
