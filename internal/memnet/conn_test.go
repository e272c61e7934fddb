package memnet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/internal/memnet"
)

// contract is what users of a net.Conn rely on, whatever the network does.
var contract = []struct {
	name string
	test func(t *testing.T, a, b net.Conn)
}{
	{"bytes arrive once and in order", bytesInOrder},
	{"ping and pong", pingPong},
	{"concurrent writes stay whole", wholeWrites},
	{"closing delivers what was sent", closeDelivers},
	{"half a close", halfClose},
	{"close ends what waits", closeUnblocks},
	{"nothing works after the close", afterClose},
	{"writes to an end that is gone", writeToGone},
	{"read deadline", readDeadline},
	{"write deadline", writeDeadline},
	{"a deadline that is moved", movedDeadline},
	{"nothing to read or write", emptyCalls},
	{"addresses", addresses},
}

func TestConnKeepsItsContract(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]func(*memnet.Network){
		"without faults": func(*memnet.Network) {},
		"delay":          func(n *memnet.Network) { n.Delay(time.Millisecond, 3*time.Millisecond) },
		"loss":           func(n *memnet.Network) { n.Loss(0.3) },
	} {
		for _, row := range contract {
			t.Run(name+"/"+row.name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, n *memnet.Network) {
					faults(n)
					a, b := pair(t, n)
					row.test(t, a, b)
				})
			})
		}
	}
}

func TestConnKeepsItsContractOnRealTime(t *testing.T) {
	t.Parallel()
	for name, delay := range map[string]time.Duration{"at once": 0, "delay": 100 * time.Microsecond} {
		for _, row := range contract {
			t.Run(name+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				n := memnet.New(1)
				n.Delay(delay, delay)
				a, b := pair(t, n)
				row.test(t, a, b)
			})
		}
	}
}

func bytesInOrder(t *testing.T, a, b net.Conn) {
	random := rand.New(rand.NewPCG(1, 1))
	sent := make([]byte, 1<<20)
	for i := range sent {
		sent[i] = byte(random.Uint32())
	}
	var writing sync.WaitGroup
	writing.Go(func() {
		for rest := sent; len(rest) > 0; {
			n := min(len(rest), 1+random.IntN(100_000))
			if _, err := a.Write(rest[:n]); err != nil {
				t.Error(err)
			}
			rest = rest[n:]
		}
		a.Close()
	})
	got, err := io.ReadAll(b)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came, %v, not those that were sent", len(got), err)
	}
	writing.Wait()
}

func pingPong(t *testing.T, a, b net.Conn) {
	var echoing sync.WaitGroup
	echoing.Go(func() {
		if _, err := io.Copy(b, b); err != nil {
			t.Error(err)
		}
	})
	for i := range 1000 {
		sent := binary.BigEndian.AppendUint32(nil, uint32(i))
		got := make([]byte, 4)
		if _, err := a.Write(sent); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(a, got); err != nil || !bytes.Equal(sent, got) {
			t.Fatalf("%d: %v, %v", i, got, err)
		}
	}
	a.Close()
	echoing.Wait()
}

func wholeWrites(t *testing.T, a, b net.Conn) {
	const writers, each, size = 8, 5, 40_000 // beyond the window, all together
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for range each {
				if _, err := a.Write(bytes.Repeat([]byte{byte(w)}, size)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	seen := make(map[byte]int)
	record := make([]byte, size)
	for range writers * each {
		if _, err := io.ReadFull(b, record); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(record, bytes.Repeat(record[:1], size)) {
			t.Fatal("two writes are mixed")
		}
		seen[record[0]]++
	}
	writing.Wait()
	for w := range writers {
		if seen[byte(w)] != each {
			t.Errorf("%d writes of writer %d came, want %d", seen[byte(w)], w, each)
		}
	}
}

func closeDelivers(t *testing.T, a, b net.Conn) {
	write(t, a, "last words")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(b)
	if err != nil || string(got) != "last words" {
		t.Errorf("read %q, %v", got, err)
	}
	if n, err := b.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("behind the end: %d, %v", n, err)
	}
}

func halfClose(t *testing.T, a, b net.Conn) {
	write(t, a, "question")
	if err := a.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(b); err != nil || string(got) != "question" {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := a.Write([]byte("more")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a write behind the end: %v", err)
	}
	write(t, b, "answer")
	b.Close()
	if got, err := io.ReadAll(a); err != nil || string(got) != "answer" {
		t.Errorf("read %q, %v", got, err)
	}
}

// waiting starts calls that wait, and returns their errors.
func waiting(calls ...func() error) <-chan error {
	errs := make(chan error, len(calls))
	for _, call := range calls {
		go func() { errs <- call() }()
	}
	return errs
}

func reading(c net.Conn) func() error {
	return func() error {
		_, err := c.Read(make([]byte, 1))
		return err
	}
}

// flooding writes more than anybody will read.
func flooding(c net.Conn) func() error {
	return func() error {
		_, err := c.Write(make([]byte, 1<<20))
		return err
	}
}

func closeUnblocks(t *testing.T, a, _ net.Conn) {
	errs := waiting(reading(a), reading(a), flooding(a), flooding(a))
	a.Close()
	for range cap(errs) {
		if err := <-errs; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}
}

func afterClose(t *testing.T, a, _ net.Conn) {
	a.Close()
	for name, call := range map[string]func() error{
		"read":               reading(a),
		"write":              flooding(a),
		"close":              a.Close,
		"half a close":       a.(interface{ CloseWrite() error }).CloseWrite,
		"set a deadline":     func() error { return a.SetDeadline(time.Now()) },
		"set read deadline":  func() error { return a.SetReadDeadline(time.Now()) },
		"set write deadline": func() error { return a.SetWriteDeadline(time.Now()) },
	} {
		var op *net.OpError
		if err := call(); !errors.Is(err, net.ErrClosed) || !errors.As(err, &op) || op.Net != "tcp" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func writeToGone(t *testing.T, a, b net.Conn) {
	full := waiting(flooding(a))
	b.Close()
	if n, err := a.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read: %d, %v", n, err)
	}
	if err := <-full; err != nil && !errors.Is(err, syscall.EPIPE) { // nil: it was done before it could know
		t.Errorf("the write that waited: %v", err)
	}
	if err := flooding(a)(); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("the next write: %v", err)
	}
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout() && errors.Is(err, os.ErrDeadlineExceeded)
}

func readDeadline(t *testing.T, a, b net.Conn) {
	for _, d := range []time.Duration{-time.Hour, 0, time.Millisecond} {
		if err := a.SetReadDeadline(time.Now().Add(d)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := reading(a)(); !isTimeout(err) {
				t.Errorf("deadline in %v: %v", d, err)
			}
		}
	}
	write(t, b, "x")
	if err := a.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := reading(a)(); err != nil {
		t.Errorf("without a deadline: %v", err)
	}
}

func writeDeadline(t *testing.T, a, b net.Conn) {
	if err := a.SetWriteDeadline(time.Now().Add(5 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	n, err := a.Write(make([]byte, 1<<20))
	if !isTimeout(err) || n == 1<<20 { // 0 if the machine is so busy that it is over already
		t.Errorf("%d bytes written, %v", n, err)
	}
	if n, err := a.Write([]byte("x")); n != 0 || !isTimeout(err) {
		t.Errorf("behind the deadline: %d, %v", n, err)
	}
	if err := a.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	writing := waiting(func() error {
		_, err := a.Write([]byte("y"))
		return err
	})
	got := make([]byte, n+1)
	if _, err := io.ReadFull(b, got); err != nil || got[n] != 'y' {
		t.Errorf("behind what was written: %q, %v", got[n], err)
	}
	if err := <-writing; err != nil {
		t.Error(err)
	}
}

func movedDeadline(t *testing.T, a, _ net.Conn) {
	if err := a.SetDeadline(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	errs := waiting(reading(a), reading(a), flooding(a), flooding(a))
	if err := a.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for range cap(errs) {
		if err := <-errs; !isTimeout(err) {
			t.Error(err)
		}
	}
}

func emptyCalls(t *testing.T, a, _ net.Conn) {
	if n, err := a.Read(nil); n != 0 || err != nil {
		t.Errorf("read: %d, %v", n, err)
	}
	if n, err := a.Write(nil); n != 0 || err != nil {
		t.Errorf("write: %d, %v", n, err)
	}
}

func addresses(t *testing.T, a, b net.Conn) {
	if a.RemoteAddr().String() != at(2) || b.LocalAddr().String() != at(2) {
		t.Errorf("the far end is %v, or %v", a.RemoteAddr(), b.LocalAddr())
	}
	if a.LocalAddr().String() != b.RemoteAddr().String() || a.LocalAddr().Network() != "tcp" {
		t.Errorf("the near end is %v, or %v", a.LocalAddr(), b.RemoteAddr())
	}
}

func TestWriterWaitsForTheReader(t *testing.T) {
	inBubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := pair(t, n)
		written := waiting(flooding(a))
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(written) > 0 {
			t.Fatal("a megabyte was written and nothing read")
		}
		if _, err := io.ReadFull(b, make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		if err := <-written; err != nil {
			t.Error(err)
		}
	})
}
