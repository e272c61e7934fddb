package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/internal/memnet"
)

// testCluster runs memberships on a network in memory, in the bubble of a test.
type testCluster struct {
	t       *testing.T
	network *memnet.Network
	log     *logRecorder
}

// testNode is one membership of a testCluster.
type testNode struct {
	*Membership
	cluster *testCluster
	host    netip.Addr
	// closed counts the sessions that were closed, opened those opened.
	sessions *sessionCounts
}

type sessionCounts struct {
	mu             sync.Mutex
	opened, closed int
}

func (c *sessionCounts) open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened - c.closed
}

func (c *sessionCounts) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

// inBubble runs test with an empty cluster. All that test started must have
// ended once virtual time has run on for a few minutes.
func inBubble(t *testing.T, test func(c *testCluster)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(5 * time.Minute) }) // the last one: probes in flight run out
		test(&testCluster{t: t, network: memnet.New(1), log: &logRecorder{}})
	})
}

// host returns the address of the n-th host.
func host(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}) }

func gossipAt(h netip.Addr) netip.AddrPort { return netip.AddrPortFrom(h, 7381) }

func seedsOn(hosts ...int) []string {
	seeds := make([]string, len(hosts))
	for i, n := range hosts {
		seeds[i] = gossipAt(host(n)).String()
	}
	return seeds
}

// start runs a node named id on the n-th host. It is closed with the test.
func (c *testCluster) start(id string, n int, join []string, change ...func(*MembershipOptions)) *testNode {
	c.t.Helper()
	h := host(n)
	transport, err := c.network.Host(h).ListenGossip(gossipAt(h).Port())
	if err != nil {
		c.t.Fatal(err)
	}
	node := &testNode{cluster: c, host: h, sessions: &sessionCounts{}}
	o := MembershipOptions{
		ID:            id,
		Version:       "test",
		GossipAddress: gossipAt(h).String(),
		PeerAddress:   netip.AddrPortFrom(h, 7382).String(),
		Join:          join,
		Label:         "test",
		Shared:        1,
		Connect:       node.connect,
		Logger:        slog.New(slog.NewTextHandler(c.log, nil)).With("node", id),
		Transport:     transport,
	}
	for _, f := range change {
		f(&o)
	}
	if node.Membership, err = StartMembership(c.t.Context(), o); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(node.Close)
	return node
}

// connect opens a session that is up while the other host is connected and
// has a node.
func (n *testNode) connect(m Member) Peer {
	n.sessions.mu.Lock()
	defer n.sessions.mu.Unlock()
	n.sessions.opened++
	return &testSession{fakePeer: fakePeer{}, from: n, to: netip.MustParseAddrPort(m.Address).Addr()}
}

type testSession struct {
	fakePeer
	from *testNode
	to   netip.Addr
	once sync.Once
}

func (s *testSession) Reachable() bool {
	network := s.from.cluster.network
	return network.Connected(s.from.host, s.to) && network.Listening(gossipAt(s.to))
}

func (s *testSession) Close() {
	s.once.Do(func() {
		s.from.sessions.mu.Lock()
		defer s.from.sessions.mu.Unlock()
		s.from.sessions.closed++
	})
}

// await lets virtual time run until done is true, and fails the test if it
// is not within the given time. It returns how long that took.
func (c *testCluster) await(within time.Duration, what string, done func() bool) time.Duration {
	c.t.Helper()
	start := time.Now()
	for !done() {
		if time.Since(start) > within {
			c.t.Fatalf("not within %v: %s\nlog:\n%s", within, what, c.log)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(start)
}

// always lets virtual time run and fails the test if ok is ever false.
func (c *testCluster) always(during time.Duration, what string, ok func() bool) {
	c.t.Helper()
	for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if !ok() {
			c.t.Fatalf("no longer so: %s\nlog:\n%s", what, c.log)
		}
	}
}

// owners returns the ids that own partitions in n's view.
func (n *testNode) owners() string { return strings.Join(n.View().Ring.Members(), " ") }

// formed reports whether all nodes are ready and agree that exactly the
// owners with the given ids, in order, own partitions.
func formed(owners string, nodes ...*testNode) func() bool {
	return func() bool {
		return !slices.ContainsFunc(nodes, func(n *testNode) bool {
			return !n.Readiness().Ready || n.owners() != owners
		})
	}
}

// three starts n1, n2 and n3 on hosts 1 to 3 and waits for them to form.
func (c *testCluster) three() (n1, n2, n3 *testNode) {
	c.t.Helper()
	seeds := seedsOn(1, 2, 3)
	n1, n2, n3 = c.start("n1", 1, seeds), c.start("n2", 2, seeds), c.start("n3", 3, seeds)
	c.await(10*time.Second, "three nodes form a cluster", formed("n1 n2 n3", n1, n2, n3))
	return n1, n2, n3
}

// entryOf is what n's placement says of id.
func (n *testNode) entryOf(id string) entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.placement.records[id].entry
}

// entryIDs are the ids in n's placement.
func (n *testNode) entryIDs() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.placement.records))
}

// detail is the detail of one readiness condition.
func (n *testNode) detail(name string) string {
	for _, c := range n.Readiness().Conditions {
		if c.Name == name {
			return c.Detail
		}
	}
	return fmt.Sprintf("no condition %q", name)
}

// leave leaves within ten seconds.
func (n *testNode) leave() {
	n.cluster.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := n.Leave(ctx); err != nil {
		n.cluster.t.Fatalf("leave: %v", err)
	}
}

// logRecorder keeps log lines for a failing test to show.
type logRecorder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (r *logRecorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(p)
}

func (r *logRecorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

func (r *logRecorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.b.Reset()
}

// matching counts the lines that contain all fragments.
func (r *logRecorder) matching(fragments ...string) int {
	n := 0
	for line := range strings.Lines(r.String()) {
		if !slices.ContainsFunc(fragments, func(f string) bool { return !strings.Contains(line, f) }) {
			n++
		}
	}
	return n
}
