package memnet_test

import (
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/internal/leak"
	"github.com/murmurate/murmurate/internal/memnet"
)

func TestMain(m *testing.M) { leak.Main(m) }

// addr is the n-th host's.
func addr(n byte) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, n}) }

const port = 80

// at is where the n-th host listens.
func at(n byte) string { return netip.AddrPortFrom(addr(n), port).String() }

// inBubble runs a test on virtual time, with a network.
func inBubble(t *testing.T, test func(t *testing.T, n *memnet.Network)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, memnet.New(1)) })
}

// listen listens on the n-th host until the test ends.
func listen(t *testing.T, n *memnet.Network, host byte) net.Listener {
	t.Helper()
	l, err := n.Host(addr(host)).Listen(port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// pair opens a stream from host 1 to host 2, which both ends close in the end.
func pair(t *testing.T, n *memnet.Network) (near, far net.Conn) {
	t.Helper()
	l := listen(t, n, 2)
	near, err := n.Host(addr(1)).DialContext(t.Context(), "tcp", at(2))
	if err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		near.Close()
		far.Close()
	})
	return near, far
}

// gossip opens a transport on the n-th host until the test ends.
func gossip(t *testing.T, n *memnet.Network, host byte) *memnet.Transport {
	t.Helper()
	tr, err := n.Host(addr(host)).ListenGossip(port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return tr
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if n, err := c.Write([]byte(text)); err != nil || n != len(text) {
		t.Fatalf("write: %d, %v", n, err)
	}
}

// expect reads once and fails the test unless it is text, after the given
// time.
func expect(t *testing.T, c net.Conn, text string, after time.Duration) {
	t.Helper()
	start := time.Now()
	b := make([]byte, len(text)+1)
	n, err := c.Read(b)
	if got := string(b[:n]); err != nil || got != text {
		t.Fatalf("read %q, %v, want %q", got, err, text)
	}
	if took := time.Since(start); took != after {
		t.Errorf("%q came after %v, want %v", text, took, after)
	}
}

// silent fails the test if anything can be read within a second.
func silent(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 100)); err == nil {
		t.Fatalf("%d bytes came", n)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
}

// packets returns what waits at a transport.
func packets(tr *memnet.Transport) []string {
	var got []string
	for {
		select {
		case p := <-tr.PacketCh():
			got = append(got, string(p.Buf))
		default:
			return got
		}
	}
}
