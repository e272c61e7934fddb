package cluster

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// loopbackOptions are for a real node on 127.0.0.1, at any free port.
func loopbackOptions(id string, join ...string) MembershipOptions {
	return MembershipOptions{
		ID: id, GossipAddress: "127.0.0.1:0", PeerAddress: "127.0.0.1:1", Join: join, Label: "loopback", GossipKey: testKeys[0],
		Connect: func(Member) Peer { return &fakePeer{} },
	}
}

func TestRealSocketsFormACluster(t *testing.T) {
	t.Parallel()
	first, err := StartMembership(t.Context(), loopbackOptions("n1"))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := StartMembership(t.Context(), loopbackOptions("n2", first.GossipAddress().String()))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	eventually(t, "both own partitions and are ready", func() bool {
		return second.Readiness().Ready && len(second.View().Ring.Members()) == 2 && second.Digest() == first.Digest()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := second.Leave(ctx); err != nil {
		t.Error(err)
	}
	eventually(t, "the first owns all again", func() bool { return len(first.View().Ring.Members()) == 1 })
}

// eventually waits on real time, with much to spare for a slow machine.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestGossipPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := loopbackOptions("n1")
	o.GossipAddress = l.Addr().String()
	m, err := StartMembership(t.Context(), o)
	if err == nil {
		m.Close()
		t.Fatal("started")
	}
	var op *net.OpError
	if !errors.As(err, &op) || !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("the cause is lost: %v", err)
	}
	for _, want := range []string{l.Addr().String(), "another program", "cluster.gossip", "--gossip"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %s", err, want)
		}
	}
}
