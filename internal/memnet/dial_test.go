package memnet_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/internal/memnet"
)

// dialing dials from host 1 to host 2 within a time.
func dialing(t *testing.T, n *memnet.Network, within time.Duration) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		c, err := n.Host(addr(1)).DialContext(ctx, "tcp", at(2))
		if err == nil {
			c.Close()
		}
		return err
	}
}

func TestDialWaitsWhileTheWayIsCut(t *testing.T) {
	for name, cut := range map[string]func(n *memnet.Network){
		"both ways":  func(n *memnet.Network) { n.Cut(addr(1), addr(2)) },
		"there":      func(n *memnet.Network) { n.CutOneWay(addr(1), addr(2)) },
		"back":       func(n *memnet.Network) { n.CutOneWay(addr(2), addr(1)) },
		"pause":      func(n *memnet.Network) { n.Host(addr(2)).Pause() },
		"pause here": func(n *memnet.Network) { n.Host(addr(1)).Pause() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *memnet.Network) {
				listen(t, n, 2)
				cut(n)
				start := time.Now()
				if err := dialing(t, n, time.Second)(); !isTimeout(err) || time.Since(start) != time.Second {
					t.Errorf("%v after %v", err, time.Since(start))
				}
				healed := waiting(dialing(t, n, time.Minute))
				time.Sleep(30 * time.Second)
				n.Heal()
				n.Host(addr(1)).Resume()
				n.Host(addr(2)).Resume()
				start = time.Now()
				if err := <-healed; err != nil || time.Since(start) != 0 {
					t.Errorf("after the heal: %v after %v", err, time.Since(start))
				}
			})
		})
	}
}

func TestCutDuringTheHandshake(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		listen(t, n, 2)
		n.Delay(100*time.Millisecond, 0)
		start := time.Now()
		dialled := waiting(dialing(t, n, time.Minute))
		time.Sleep(150 * time.Millisecond)
		n.Cut(addr(1), addr(2))
		time.Sleep(time.Second)
		n.Heal()
		if err := <-dialled; err != nil || time.Since(start) != 1350*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestDialsThatFail(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		l := listen(t, n, 2)
		h := n.Host(addr(1))
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		n.Cut(addr(1), addr(4))
		for name, row := range map[string]struct {
			ctx  context.Context
			addr string
			want error
		}{
			"no such host": {t.Context(), at(3), syscall.ECONNREFUSED},
			"no such port": {t.Context(), "10.0.0.2:81", syscall.ECONNREFUSED},
			"cancelled":    {cancelled, at(4), context.Canceled},
		} {
			_, err := h.DialContext(row.ctx, "tcp", row.addr)
			var op *net.OpError
			if !errors.Is(err, row.want) || !errors.As(err, &op) || op.Addr.String() != row.addr {
				t.Errorf("%s: %v", name, err)
			}
		}
		for network, addr := range map[string]string{"udp": at(2), "tcp": "localhost:80"} {
			if _, err := h.DialContext(t.Context(), network, addr); err == nil {
				t.Errorf("dialled %s %s", network, addr)
			}
		}
		l.Close()
		if err := dialing(t, n, time.Second)(); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("after the close: %v", err)
		}
		pending := waiting(func() error {
			_, err := h.DialContext(t.Context(), "tcp", at(4))
			return err
		})
		synctest.Wait()
		h.Crash()
		if err := <-pending; !errors.Is(err, net.ErrClosed) {
			t.Errorf("after the crash: %v", err)
		}
	})
}

func TestListener(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		h := n.Host(addr(2))
		l := listen(t, n, 2)
		if l.Addr().String() != at(2) {
			t.Errorf("it listens at %v", l.Addr())
		}
		for name, again := range map[string]func() error{
			"streams": func() error { _, err := h.Listen(port); return err },
			"gossip":  func() error { _, err := h.ListenGossip(port); return err },
		} {
			if err := again(); !errors.Is(err, syscall.EADDRINUSE) {
				t.Errorf("%s again: %v", name, err)
			}
		}
		waits, err := n.Host(addr(1)).DialContext(t.Context(), "tcp", at(2))
		if err != nil {
			t.Fatal(err)
		}
		defer waits.Close()
		accepting := waiting(func() error {
			for {
				if _, err := l.Accept(); err != nil {
					return err
				}
			}
		})
		synctest.Wait()
		l.Close()
		if err := <-accepting; !errors.Is(err, net.ErrClosed) {
			t.Errorf("accept: %v", err)
		}
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("close again: %v", err)
		}
		listen(t, n, 2)
	})
}

func TestBacklog(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		l := listen(t, n, 2)
		var last net.Conn
		for {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			c, err := n.Host(addr(1)).DialContext(ctx, "tcp", at(2))
			cancel()
			if isTimeout(err) {
				break // nobody accepts, and there is no room for more
			}
			if err != nil {
				t.Fatal(err)
			}
			last = c
			defer c.Close()
		}
		room := waiting(dialing(t, n, time.Minute))
		synctest.Wait()
		if _, err := l.Accept(); err != nil {
			t.Fatal(err)
		}
		if err := <-room; err != nil {
			t.Errorf("with room again: %v", err)
		}
		l.Close()
		if err := reading(last)(); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a stream that was never accepted: %v", err)
		}
	})
}
