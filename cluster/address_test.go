package cluster

import (
	"strings"
	"testing"
)

func TestCheckAddresses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name                    string
		gossip, advertise, peer string
		join                    []string
		want                    string // the advertised address, or what the error says
		fails                   bool
	}{
		{name: "loopback", gossip: "127.0.0.1:7381", peer: "127.0.0.1:7382", join: []string{"127.0.0.2:7381", "localhost:7381"}, want: "127.0.0.1:7381"},
		{name: "an address", gossip: "10.0.0.1:7381", peer: "10.0.0.1:7382", join: []string{"10.0.0.2", "db.example"}, want: "10.0.0.1:7381"},
		{name: "IPv6", gossip: "[fd00::1]:7381", peer: "[fd00::1]:7382", join: []string{"[fd00::2]:7381"}, want: "[fd00::1]:7381"},
		{name: "a wildcard that is advertised", gossip: "0.0.0.0:7381", advertise: "10.0.0.1", peer: "10.0.0.1:7382", want: "10.0.0.1:7381"},
		{name: "another port outside", gossip: "0.0.0.0:7381", advertise: "192.0.2.1:9000", peer: "192.0.2.1:7382", want: "192.0.2.1:9000"},
		{name: "a peer's name", gossip: "10.0.0.1:7381", peer: "n1.example:7382", want: "10.0.0.1:7381"},
		{name: "a name to bind", gossip: "localhost:7381", peer: "127.0.0.1:7382", want: "cluster.gossip (--gossip): \"localhost:7381\"", fails: true},
		{name: "no host to bind", gossip: ":7381", peer: "127.0.0.1:7382", want: "cluster.gossip", fails: true},
		{name: "a name to advertise", gossip: "0.0.0.0:7381", advertise: "n1.example", peer: "10.0.0.1:7382", want: "cluster.advertise", fails: true},
		{name: "a bare wildcard", gossip: "0.0.0.0:7381", peer: "10.0.0.1:7382", want: "set cluster.advertise", fails: true},
		{name: "a bare IPv6 wildcard", gossip: "[::]:7381", peer: "10.0.0.1:7382", want: "set cluster.advertise", fails: true},
		{name: "loopback that joins another host", gossip: "127.0.0.1:7381", peer: "127.0.0.1:7382", join: []string{"10.0.0.2:7381"}, want: "cannot be reached from 10.0.0.2", fails: true},
		{name: "a wildcard peer", gossip: "10.0.0.1:7381", peer: "0.0.0.0:7382", want: "cluster.peer", fails: true},
		{name: "a loopback peer in a network", gossip: "10.0.0.1:7381", peer: "127.0.0.1:7382", want: "set cluster.peer", fails: true},
		{name: "no peer", gossip: "10.0.0.1:7381", want: "cluster.peer", fails: true},
		{name: "a peer without a port", gossip: "10.0.0.1:7381", peer: "10.0.0.1:0", want: "port from 1 to 65535", fails: true},
	} {
		a, err := checkAddresses(&MembershipOptions{GossipAddress: tc.gossip, Advertise: tc.advertise, PeerAddress: tc.peer, Join: tc.join})
		switch {
		case tc.fails && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: error %v, want one with %q", tc.name, err, tc.want)
		case !tc.fails && (err != nil || a.advertise.String() != tc.want):
			t.Errorf("%s: advertises %v, error %v; want %s", tc.name, a.advertise, err, tc.want)
		}
	}
}

func TestOptionsNameEveryFault(t *testing.T) {
	t.Parallel()
	o := MembershipOptions{ID: "a b", Role: RoleClient, GossipKey: make([]byte, 7), Version: strings.Repeat("v", 65)}
	err := o.validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"node.name", "cluster.join", "version", "cluster.label", "16, 24 or 32 bytes, got 7", "Connect"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s:\n%v", want, err)
		}
	}
}
