package memnet_test

import (
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/murmurate/murmurate/internal/memnet"
)

func TestDelayIsThatOfTheNetworkAndTheHosts(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		n.Delay(10*time.Millisecond, 0)
		n.Host(addr(2)).Slow(5 * time.Millisecond)
		start := time.Now()
		a, b := pair(t, n)
		if took := time.Since(start); took != 30*time.Millisecond {
			t.Errorf("dialling took %v, want a way there and back", took)
		}
		write(t, a, "x")
		expect(t, b, "x", 15*time.Millisecond)
		write(t, a, "y")
		time.Sleep(time.Second)
		expect(t, b, "y", 0)
		write(t, b, "z")
		b.Close()
		expect(t, a, "z", 15*time.Millisecond)
	})
}

func TestJitterKeepsStreamsInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := pair(t, n)
		n.Delay(0, 20*time.Millisecond)
		const letters = "abcdefghijklmnopqrstuvwxyz"
		for _, l := range letters {
			write(t, a, string(l))
			time.Sleep(time.Millisecond)
		}
		a.Close()
		if got, err := io.ReadAll(b); err != nil || string(got) != letters {
			t.Errorf("read %q, %v", got, err)
		}
	})
}

// sendMany sends numbered packets from host 1 to host 2 and returns what
// came.
func sendMany(t *testing.T, n *memnet.Network, count int) []string {
	t.Helper()
	from, to := gossip(t, n, 1), gossip(t, n, 2)
	for i := range count {
		if _, err := from.WriteTo([]byte(strconv.Itoa(i)), at(2)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(time.Minute)
	return packets(to)
}

func numbered(count int) []string {
	all := make([]string, count)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return all
}

func TestPackets(t *testing.T) {
	const count = 500
	inOrder := func(got []string) bool {
		return slices.IsSortedFunc(got, func(a, b string) int {
			if len(a) != len(b) {
				return len(a) - len(b)
			}
			return slices.Compare([]byte(a), []byte(b))
		})
	}
	for _, tc := range []struct {
		name        string
		faults      func(n *memnet.Network)
		least, most int
		inOrder     bool
	}{
		{"without faults", func(*memnet.Network) {}, count, count, true},
		{"delay", func(n *memnet.Network) { n.Delay(time.Second, 0) }, count, count, true},
		{"jitter", func(n *memnet.Network) { n.Delay(time.Millisecond, 20*time.Millisecond) }, count, count, false},
		{"loss", func(n *memnet.Network) { n.Loss(0.2) }, count * 7 / 10, count * 9 / 10, true},
		{"total loss", func(n *memnet.Network) { n.Loss(1) }, 0, 0, true},
		{"duplication", func(n *memnet.Network) { n.Duplicate(0.2) }, count * 11 / 10, count * 13 / 10, true},
		{"cut", func(n *memnet.Network) { n.Cut(addr(2), addr(1)) }, 0, 0, true},
		{"cut there", func(n *memnet.Network) { n.CutOneWay(addr(1), addr(2)) }, 0, 0, true},
		{"cut back", func(n *memnet.Network) { n.CutOneWay(addr(2), addr(1)) }, count, count, true},
		{"cut and healed", func(n *memnet.Network) { n.Cut(addr(1), addr(2)); n.Heal() }, count, count, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *memnet.Network) {
				tc.faults(n)
				got := sendMany(t, n, count)
				if len(got) < tc.least || len(got) > tc.most || inOrder(got) != tc.inOrder {
					t.Errorf("%d packets came, in order: %v", len(got), inOrder(got))
				}
			})
		})
	}
}

func TestOneSeedOneCourse(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		course := func(n *memnet.Network) []string {
			n.Loss(0.3)
			n.Duplicate(0.3)
			n.Delay(0, 20*time.Millisecond)
			return sendMany(t, n, 100)
		}
		first := course(n)
		if again := course(memnet.New(1)); !slices.Equal(again, first) {
			t.Errorf("%v came, and %v the time before", again, first)
		}
		if other := course(memnet.New(2)); slices.Equal(other, first) {
			t.Error("another seed makes no difference")
		}
	})
}

func TestPacketsInFlightAreLostInACut(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		n.Delay(time.Second, 0)
		from, to := gossip(t, n, 1), gossip(t, n, 2)
		if _, err := from.WriteTo([]byte("x"), at(2)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		n.Cut(addr(1), addr(2))
		time.Sleep(time.Second)
		n.Heal()
		time.Sleep(time.Minute)
		if got := packets(to); got != nil {
			t.Errorf("%v came", got)
		}
	})
}

func TestSocketsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		if got := sendMany(t, n, 2000); !slices.Equal(got, numbered(1024)) {
			t.Errorf("%d packets waited", len(got))
		}
	})
}

func TestCutHoldsStreams(t *testing.T) {
	for _, tc := range []struct {
		name        string
		cut         func(n *memnet.Network)
		there, back bool // what still works
	}{
		{"both ways", func(n *memnet.Network) { n.Cut(addr(1), addr(2)) }, false, false},
		{"there", func(n *memnet.Network) { n.CutOneWay(addr(1), addr(2)) }, false, true},
		{"back", func(n *memnet.Network) { n.CutOneWay(addr(2), addr(1)) }, true, false},
		{"others", func(n *memnet.Network) { n.Cut(addr(1), addr(3)) }, true, true},
		{"paused", func(n *memnet.Network) { n.Host(addr(2)).Pause() }, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *memnet.Network) {
				n.Delay(10*time.Millisecond, 0)
				a, b := pair(t, n)
				write(t, a, "in flight, ")
				time.Sleep(5 * time.Millisecond)
				tc.cut(n)
				write(t, a, "held")
				write(t, b, "back")
				a.Close()
				if !tc.there {
					silent(t, b)
				}
				if n.Connected(addr(1), addr(2)) != (tc.there && tc.back) {
					t.Error("Connected says something else")
				}
				time.Sleep(time.Hour)
				n.Heal()
				n.Host(addr(2)).Resume()
				start := time.Now()
				if got, err := io.ReadAll(b); err != nil || string(got) != "in flight, held" {
					t.Errorf("read %q, %v", got, err)
				}
				if took := time.Since(start); (took == 0) != tc.there || took > 10*time.Millisecond {
					t.Errorf("took %v after the heal", took)
				}
			})
		})
	}
}

func TestWhatAClosedEndHearsAcrossACut(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := pair(t, n)
		n.Cut(addr(1), addr(2))
		b.Close()
		for range 10 {
			write(t, a, "into the void") // it cannot know
		}
		silent(t, a)
		n.Heal()
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("read: %v", err)
		}
		if _, err := a.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write: %v", err)
		}
	})
}

func TestLossMakesStreamsLate(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := pair(t, n)
		n.Loss(0.5)
		start := time.Now()
		for range 100 {
			write(t, a, "x")
			if _, err := io.ReadFull(b, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		// One in two takes at least 200 ms.
		if took := time.Since(start); took < 5*time.Second || took > 10*time.Minute {
			t.Errorf("a hundred writes took %v", took)
		}
	})
}

func TestPausedHostKeepsPackets(t *testing.T) {
	for name, paused := range map[string]byte{"the sender": 1, "the receiver": 2} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, n *memnet.Network) {
				h := n.Host(addr(paused))
				h.Pause()
				from, to := gossip(t, n, 1), gossip(t, n, 2)
				for i := range 2000 {
					if _, err := from.WriteTo([]byte(strconv.Itoa(i)), at(2)); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Minute)
				if got := packets(to); got != nil {
					t.Errorf("%d packets came", len(got))
				}
				h.Resume()
				if got := packets(to); !slices.Equal(got, numbered(1024)) {
					t.Errorf("%d packets came after the pause", len(got))
				}
			})
		})
	}
}

func TestCrashResetsStreams(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		n.Delay(10*time.Millisecond, 0)
		a, b := pair(t, n)
		blocked := waiting(reading(b))
		h := n.Host(addr(2))
		write(t, b, "last words")
		h.Crash()
		if err := <-blocked; !errors.Is(err, net.ErrClosed) {
			t.Errorf("its own read: %v", err)
		}
		if err := flooding(b)(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("its own write: %v", err)
		}
		expect(t, a, "last words", 10*time.Millisecond)
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the other's read: %v", err)
		}
		if _, err := a.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("the other's write: %v", err)
		}
		if _, err := h.DialContext(t.Context(), "tcp", at(1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("its own dial: %v", err)
		}
		if _, err := n.Host(addr(1)).DialContext(t.Context(), "tcp", at(2)); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("the other's dial: %v", err)
		}
		if _, err := h.Listen(port); !errors.Is(err, net.ErrClosed) {
			t.Errorf("listens: %v", err)
		}
		h.Crash() // again
		pair(t, n)
	})
}

func TestCrashIsHeardOfAfterTheHeal(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		a, _ := pair(t, n)
		n.Cut(addr(1), addr(2))
		n.Host(addr(2)).Crash()
		silent(t, a)
		n.Heal()
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read: %v", err)
		}
	})
}

func TestCrashedHostSendsNoPackets(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		from, to := gossip(t, n, 1), gossip(t, n, 2)
		n.Host(addr(1)).Crash()
		if _, err := from.WriteTo([]byte("x"), at(2)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := packets(to); got != nil {
			t.Errorf("%v came", got)
		}
	})
}

// A paused host has sent nothing since, whatever its programs have tried.
func TestCrashOfAPausedHost(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := pair(t, n)
		from, to := gossip(t, n, 3), gossip(t, n, 1)
		write(t, b, "before")
		for _, host := range []byte{2, 3} {
			n.Host(addr(host)).Pause()
		}
		write(t, b, "after")
		if _, err := from.WriteTo([]byte("x"), at(1)); err != nil {
			t.Fatal(err)
		}
		for _, host := range []byte{2, 3} {
			n.Host(addr(host)).Crash()
		}
		got, err := io.ReadAll(a)
		if string(got) != "before" || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read %q, %v", got, err)
		}
		if got := packets(to); got != nil {
			t.Errorf("%v came", got)
		}
	})
}
