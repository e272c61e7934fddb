package memnet_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/internal/memnet"
)

func TestTransportHasPacketsAndStreams(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		one, two := gossip(t, n, 1), gossip(t, n, 2)
		ip, p, err := two.FinalAdvertiseAddr("ignored", 1)
		if err != nil || ip.String() != addr(2).String() || p != port {
			t.Errorf("advertises %v:%d, %v", ip, p, err)
		}
		sent := []byte("packet")
		if _, err := one.WriteTo(sent, at(2)); err != nil {
			t.Fatal(err)
		}
		copy(sent, "xxxxxx") // which the sender may do
		packet := <-two.PacketCh()
		if string(packet.Buf) != "packet" || packet.From.String() != at(1) || !packet.Timestamp.Equal(time.Now()) {
			t.Errorf("packet %q from %v at %v", packet.Buf, packet.From, packet.Timestamp)
		}
		near, err := one.DialTimeout(at(2), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		far := <-two.StreamCh()
		write(t, near, "stream")
		expect(t, far, "stream", 0)
		if !n.Listening(netip.MustParseAddrPort(at(2))) {
			t.Error("does not listen")
		}
	})
}

func TestShutdownEndsStreamsAndDials(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		one, two := gossip(t, n, 1), gossip(t, n, 2)
		dialled, err := one.DialTimeout(at(2), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		accepted := <-two.StreamCh()
		n.Cut(addr(1), addr(3))
		dialing := waiting(func() error {
			_, err := one.DialTimeout(at(3), time.Hour)
			return err
		})
		synctest.Wait()
		if err := errors.Join(one.Shutdown(), one.Shutdown()); err != nil {
			t.Fatal(err)
		}
		if err := <-dialing; err == nil {
			t.Error("the dial has no error")
		}
		if err := reading(dialled)(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("its own stream: %v", err)
		}
		if err := reading(accepted)(); !errors.Is(err, io.EOF) {
			t.Errorf("the other end: %v", err)
		}
		gossip(t, n, 1)
	})
}

func TestAddressesThatAreNone(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		tr := gossip(t, n, 1)
		if _, err := tr.WriteTo([]byte("x"), "somewhere"); err == nil {
			t.Error("sent a packet")
		}
		if _, err := tr.DialTimeout("somewhere", time.Second); err == nil {
			t.Error("opened a stream")
		}
	})
}
