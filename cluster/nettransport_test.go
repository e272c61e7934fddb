package cluster

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
)

// openTransport listens on a free port of 127.0.0.1.
func openTransport(ctx context.Context, t *testing.T, log *logRecorder) (transport memberlist.Transport, addr string) {
	t.Helper()
	o := loopbackOptions("n1")
	o.Logger = slog.New(slog.NewTextHandler(log, nil))
	a, err := checkAddresses(&o)
	if err != nil {
		t.Fatal(err)
	}
	transport, a, err = listenGossip(ctx, &o, a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := transport.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return transport, a.bind.String()
}

// connectTo opens a connection that gives up waiting long after a slow
// machine would have answered.
func connectTo(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// hungUp reports whether the other side closes c.
func hungUp(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

func TestGossipStreamsAreBounded(t *testing.T) {
	t.Parallel()
	var log logRecorder
	transport, addr := openTransport(t.Context(), t, &log)
	open := make([]net.Conn, maxStreams)
	for i := range open {
		connectTo(t, addr)
		open[i] = <-transport.StreamCh()
	}
	for i := range 20 {
		if !hungUp(connectTo(t, addr)) {
			t.Fatalf("stream %d beyond the bound stays open", i)
		}
	}
	if n := log.matching("level=WARN", "too many are open", "from=127.0.0.1"); n != 1 {
		t.Errorf("logged %d times, want once:\n%s", n, &log)
	}
	for _, c := range open[:2] {
		c.Close()
		c.Close() // counts once
	}
	for range 2 {
		connectTo(t, addr)
		defer (<-transport.StreamCh()).Close()
	}
	if !hungUp(connectTo(t, addr)) {
		t.Error("a stream that was closed twice makes room for two")
	}
	for _, c := range open[2:] {
		c.Close()
	}
}

// A stream that memberlist does not take any more must not hold up the end.
func TestGossipTransportEndsWithAStreamOnItsWay(t *testing.T) {
	t.Parallel()
	transport, addr := openTransport(t.Context(), t, &logRecorder{})
	waiting := []net.Conn{connectTo(t, addr), connectTo(t, addr), connectTo(t, addr)}
	if err := transport.Shutdown(); err != nil {
		t.Error(err)
	}
	for i, c := range waiting {
		if !hungUp(c) {
			t.Errorf("connection %d stays open", i)
		}
	}
}

// Waiting for a node that accepts and is silent must not hold up the end.
func TestDialledGossipStreamEndsWithTheMembership(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	transport, _ := openTransport(ctx, t, &logRecorder{})
	conn, err := transport.DialTimeout(silent.Addr().String(), streamTimeout)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("reading ends with %v, want it closed", err)
	}
}
