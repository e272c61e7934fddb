package cluster

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestSeedsAreResolvedEachTime(t *testing.T) {
	t.Parallel()
	answers := map[string][]netip.Addr{"cluster.example": {netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}}
	s := newSeeds(&MembershipOptions{
		Join: []string{"cluster.example", "cluster.example:9000", "10.0.0.7", "10.0.0.8:7000", "gone.example", "10.0.0.9:http"},
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			if ips, ok := answers[host]; ok {
				return ips, nil
			}
			return nil, errors.New("no such host")
		},
	}, netip.MustParseAddrPort("10.0.0.1:7381"))
	found := func() []string {
		var addrs []string
		for _, target := range s.addresses(t.Context()) {
			addrs = append(addrs, target.addr)
		}
		return addrs
	}
	want := []string{"10.0.0.2:7381", "10.0.0.1:9000", "10.0.0.2:9000", "10.0.0.7:7381", "10.0.0.8:7000"}
	if got := found(); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q: all but this node itself", got, want)
	}
	if got := s.trouble(); got != `the seed gone.example cannot be resolved: no such host; the seed 10.0.0.9:http has no port number in "10.0.0.9:http"` {
		t.Errorf("trouble %q", got)
	}
	answers["cluster.example"] = []netip.Addr{netip.MustParseAddr("10.0.0.3")}
	want = []string{"10.0.0.3:7381", "10.0.0.3:9000", "10.0.0.7:7381", "10.0.0.8:7000"}
	if got := found(); !slices.Equal(got, want) {
		t.Errorf("later found %q, want %q", got, want)
	}
}

func TestLoopbackNodeDoesNotJoinAnotherHost(t *testing.T) {
	t.Parallel()
	s := newSeeds(&MembershipOptions{
		Join: []string{"cluster.example"},
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		},
	}, netip.MustParseAddrPort("127.0.0.1:7381"))
	if got := s.addresses(t.Context()); len(got) != 0 {
		t.Errorf("found %v", got)
	}
	if got := s.trouble(); !strings.Contains(got, "set cluster.advertise") {
		t.Errorf("trouble %q", got)
	}
}

func TestExplainJoin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"dial tcp 10.0.0.1:7381: i/o timeout":                       "does not answer",
		"dial tcp 10.0.0.1:7381: connect: connection refused":       "nothing listens there",
		"read tcp ...: connection reset by peer":                    "another cluster.label",
		"failed to join 10.0.0.1:7381: EOF":                         "another cluster.label",
		"remote error: No installed keys could decrypt the message": "another cluster.secret",
		"something\n\tnew":                                          "cannot be joined: something new",
	} {
		if got := explainJoin(errors.New(text)); !strings.Contains(got, want) {
			t.Errorf("%q is explained as %q, want %q", text, got, want)
		}
	}
}
