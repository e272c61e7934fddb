package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

// dialed opens a client to a peer that the test plays, past the hellos. The
// peer's end is read and written frame by frame.
func dialed(t *testing.T, o ClientOptions) (*Client, *script) {
	t.Helper()
	m := newMemory()
	o.DialContext = m.dial
	c := startClient(t, o)
	return c, accepted(t, m)
}

// accepted plays the server up to the end of the hellos.
func accepted(t *testing.T, m *memory) *script {
	t.Helper()
	s := newScript(t, <-m.accept)
	s.expect(frameHello)
	s.send(encodeHello(newHello(node("server"), "")))
	synctest.Wait()
	return s
}

// script is one end of a connection, in the hands of a test.
type script struct {
	t    *testing.T
	conn net.Conn
	in   *frameReader
}

func newScript(t *testing.T, conn net.Conn) *script {
	t.Cleanup(func() { conn.Close() })
	in := newFrameReader(conn, newClock())
	in.limit = maxFrameBytes
	return &script{t: t, conn: conn, in: in}
}

func (s *script) send(frames []byte) {
	s.t.Helper()
	if _, err := s.conn.Write(frames); err != nil {
		s.t.Fatalf("send: %v", err)
	}
}

// expect returns the body of the next frame, which must be of the given kind.
func (s *script) expect(want kind) []byte {
	s.t.Helper()
	k, body, _, err := s.in.next()
	if err != nil || k != want {
		s.t.Fatalf("got a frame of kind %d, %v, want %d", k, err, want)
	}
	return body
}

// entries returns the slots and times left of the next batch.
func (s *script) entries() (slots []uint64, left []time.Duration) {
	s.t.Helper()
	d := decoder{rest: s.expect(frameCalls)}
	d.uint64()
	for len(d.rest) > 0 {
		e, err := nextEntry(&d)
		if err != nil {
			s.t.Fatal(err)
		}
		slots, left = append(slots, e.slot), append(left, e.left)
	}
	return slots, left
}

// answer admits the calls in slots.
func (s *script) answer(digest uint64, slots ...uint64) {
	s.t.Helper()
	b := openFrame(nil, frameReplies)
	b = binary.LittleEndian.AppendUint64(b, digest)
	for _, slot := range slots {
		b = appendReply(b, slot, CodeOK, make([]limiter.Result, 1))
	}
	s.send(closeFrame(b, 0))
}

// pong answers the next ping.
func (s *script) pong() {
	s.t.Helper()
	_, seq, err := decodePing(s.expect(framePing))
	if err != nil {
		s.t.Fatal(err)
	}
	s.send(appendPing(nil, framePong, 0, seq))
}

// discard reads and drops whatever comes.
func (s *script) discard() {
	for {
		if _, _, _, err := s.in.next(); err != nil {
			return
		}
	}
}

// asking starts a call and returns where its error will be.
func asking(c *Client, within time.Duration) chan error {
	failed := make(chan error, 1)
	go func() {
		_, err := ask(c, within, call(1, 1))
		failed <- err
	}()
	synctest.Wait()
	return failed
}

func TestSilentPeerIsDownAfter300ms(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{})
		go peer.discard()
		time.Sleep(downAfter - time.Nanosecond)
		if !c.Reachable() {
			t.Error("down too early")
		}
		time.Sleep(time.Nanosecond)
		if c.Reachable() {
			t.Error("still reachable")
		}
		start := time.Now()
		if _, err := ask(c, time.Hour, call(1, 1)); !errors.Is(err, ErrDown) || time.Since(start) != 0 {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		time.Sleep(giveUpAfter - downAfter + pingEvery)
		if err := c.LastError(); !errors.Is(err, errSilent) {
			t.Errorf("the connection was not given up: %v", err)
		}
	})
}

func TestHeartbeatKeepsAnIdleSession(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{})
		for range 100 {
			start := time.Now()
			peer.pong()
			synctest.Wait()
			if d := time.Since(start); d > pingEvery {
				t.Fatalf("%v between two pings", d)
			}
			if !c.Reachable() {
				t.Fatal("not reachable")
			}
		}
	})
}

func TestAnswersAreHeartbeats(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{})
		for range 100 {
			failed := asking(c, time.Hour)
			slots, _ := peer.entries() // and no ping between
			peer.answer(0, slots...)
			if err := <-failed; err != nil || !c.Reachable() {
				t.Fatalf("%v, reachable %v", err, c.Reachable())
			}
			time.Sleep(pingEvery - time.Millisecond)
		}
	})
}

func TestOnDemandIsQuietWhenIdle(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{OnDemand: true})
		time.Sleep(time.Hour)
		if !c.Reachable() {
			t.Fatal("an idle session does not count")
		}
		failed := asking(c, 200*time.Millisecond)
		slots, _ := peer.entries() // the first thing that was sent in an hour
		peer.pong()                // pings while the answer is due
		peer.pong()
		peer.answer(0, slots...)
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if s := c.Stats(); s.Sessions != 1 || !c.Reachable() {
			t.Errorf("%+v, reachable %v", s, c.Reachable())
		}
	})
}

func TestOnDemandFindsADeadPeerByTheFirstCall(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{OnDemand: true})
		go peer.discard()
		time.Sleep(time.Hour)
		start := time.Now()
		if _, err := ask(c, 50*time.Millisecond, call(1, 1)); !errors.Is(err, ErrDeadline) || time.Since(start) != 50*time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		time.Sleep(250 * time.Millisecond)
		if c.Reachable() {
			t.Error("still reachable 300 ms after the call")
		}
	})
}

func TestBackAfterALoss(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMemory()
		startServer(t, ServerOptions{Listener: m})
		c := startClient(t, ClientOptions{DialContext: m.dial})
		synctest.Wait()
		if !c.Reachable() {
			t.Fatal("the first session does not count at once")
		}
		m.setRefuse(true)
		m.cut()
		synctest.Wait()
		if _, err := ask(c, time.Hour, call(1, 1)); !errors.Is(err, ErrDown) {
			t.Errorf("after the loss: %v", err)
		}
		time.Sleep(time.Second)
		m.setRefuse(false)
		back := time.Now()
		for c.Stats().Sessions < 2 {
			time.Sleep(time.Millisecond)
		}
		if d := time.Since(back); d > 150*time.Millisecond {
			t.Errorf("found after %v", d)
		}
		stable := time.Now()
		for !c.Reachable() {
			time.Sleep(time.Millisecond)
		}
		if d := time.Since(stable); d < stableFor-2*time.Millisecond || d > stableFor+2*time.Millisecond {
			t.Errorf("up again after %v", d)
		}
	})
}

func TestDialsFarApartWhileThePeerIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMemory()
		m.setRefuse(true)
		c := startClient(t, ClientOptions{DialContext: m.dial})
		time.Sleep(time.Minute)
		m.mu.Lock()
		defer m.mu.Unlock()
		if n := len(m.dials); n < 60 || n > 130 {
			t.Errorf("%d attempts in a minute", n)
		}
		for i := 1; i < len(m.dials); i++ {
			if d := m.dials[i].Sub(m.dials[i-1]); d < minBackoff/2 || d > 5*maxBackoff/4 {
				t.Errorf("attempt %d came %v after the one before", i, d)
			}
		}
		if c.LastError() == nil {
			t.Error("no reason is given")
		}
	})
}

// TestBatchesFormByThemselves: a call goes out at once on an idle connection,
// and what arrives while a write is under way goes out in one frame.
func TestBatchesFormByThemselves(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{})
		failed := make([]chan error, 10)
		for i := range failed { // the peer does not read yet, so the first write hangs
			failed[i] = asking(c, 100*time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond)
		first, _ := peer.entries()
		second, left := peer.entries()
		if len(first) != 1 || len(second) != 9 {
			t.Errorf("%d calls in the first frame, %d in the second, want 1 and 9", len(first), len(second))
		}
		if left[0] != 90*time.Millisecond {
			t.Errorf("%v left, want that at the time of sending", left[0])
		}
		peer.answer(0, append(first, second...)...)
		for _, f := range failed {
			if err := <-f; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestTheWindowIsFilledAgain: a call that found the window full goes out with
// the answer that makes room, not later.
func TestTheWindowIsFilledAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{Window: 1})
		start := time.Now()
		calls := []chan error{asking(c, time.Hour), asking(c, time.Hour), asking(c, time.Hour)}
		for _, failed := range calls {
			slots, _ := peer.entries()
			if len(slots) != 1 {
				t.Errorf("%d calls in a window of 1", len(slots))
			}
			peer.answer(0, slots...)
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("three answers took %v", d)
		}
	})
}

// TestTooLateToSend: the writer may find a call past its deadline before its
// caller has withdrawn it.
func TestTooLateToSend(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{})
		go peer.discard()
		s := c.session.Load()
		s.mu.Lock()
		defer s.mu.Unlock()
		now := c.clock.now()
		late, good := newPending(), newPending()
		late.deadline, good.deadline = now, now+time.Second
		s.queue.push(late)
		s.queue.push(good)
		if frame := s.appendBatch(nil, 0, now); len(frame) == 0 || s.slots.used != 1 || good.progress != sent {
			t.Errorf("a frame of %d bytes, %d sent", len(frame), s.slots.used)
		}
		if late.progress != done || !errors.Is(late.err, ErrDeadline) {
			t.Errorf("the late call: progress %d, %v", late.progress, late.err)
		}
	})
}

func TestQueuedCallsAreWithdrawnAtTheirDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{})
		sent := asking(c, time.Second)
		withdrawn := asking(c, 50*time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := make(chan error, 1)
		go func() { cancelled <- c.Do(ctx, time.Now().Add(time.Hour), call(1, 1), make([]limiter.Result, 1)) }()
		kept := asking(c, time.Second)
		cancel()
		if err := <-cancelled; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		start := time.Now()
		if err := <-withdrawn; !errors.Is(err, ErrDeadline) || time.Since(start) != 50*time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		first, _ := peer.entries()
		second, _ := peer.entries()
		if len(first) != 1 || len(second) != 1 {
			t.Errorf("%d and %d calls were sent, want 1 and 1", len(first), len(second))
		}
		peer.answer(0, first[0], second[0])
		if err := errors.Join(<-sent, <-kept); err != nil {
			t.Error(err)
		}
	})
}

func TestAnswersAfterTheDeadlineAreDropped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{})
		failed := asking(c, 20*time.Millisecond)
		slots, _ := peer.entries()
		if err := <-failed; !errors.Is(err, ErrDeadline) {
			t.Fatalf("got %v", err)
		}
		peer.answer(0, slots...)
		again := asking(c, 20*time.Millisecond)
		slots, _ = peer.entries()
		peer.answer(0, slots...)
		if err := <-again; err != nil {
			t.Error(err)
		}
		if s := c.Stats(); s.Late != 1 || s.Sessions != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestServersThatAnswerNonsense(t *testing.T) {
	for name, answer := range map[string][]byte{
		"an answer to nothing":  closeFrame(appendReply(append(openFrame(nil, frameReplies), make([]byte, 8)...), 0, CodeOK, make([]limiter.Result, 1)), 0),
		"a pong without a ping": appendPing(nil, framePong, 0, 9),
		"a pong that is short":  closeFrame(append(openFrame(nil, framePong), 1), 0),
		"a frame for servers":   appendPing(nil, framePing, 0, 1),
		"no digest":             closeFrame(append(openFrame(nil, frameReplies), 1), 0),
		"an unknown kind":       {99, 0, 0, 0, 0},
		"a length out of range": {byte(frameReplies), 0xff, 0xff, 0xff, 0xff},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				c, peer := dialed(t, ClientOptions{})
				peer.send(answer)
				synctest.Wait()
				if err := c.LastError(); c.Reachable() || !errors.Is(err, errMalformed) && !errors.Is(err, errNotPeer) {
					t.Errorf("reachable %v, last error %v", c.Reachable(), err)
				}
			})
		})
	}
}

func TestTooFewResultsBreakTheSession(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{})
		failed := asking(c, time.Second)
		slots, _ := peer.entries()
		b := append(openFrame(nil, frameReplies), make([]byte, 8)...)
		peer.send(closeFrame(appendReply(b, slots[0], CodeOK, nil), 0))
		if err := <-failed; !errors.Is(err, ErrBroken) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if !errors.Is(c.LastError(), errMalformed) {
			t.Errorf("last error %v", c.LastError())
		}
	})
}

func TestGoodbyeStopsSending(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{})
		inFlight := asking(c, time.Hour)
		slots, _ := peer.entries()
		peer.send(closeFrame(openFrame(nil, frameBye), 0))
		synctest.Wait()
		if _, err := ask(c, time.Hour, call(1, 1)); c.Reachable() || !errors.Is(err, ErrDown) {
			t.Errorf("after the goodbye: reachable %v, %v", c.Reachable(), err)
		}
		peer.answer(0, slots...)
		if err := <-inFlight; err != nil {
			t.Errorf("the call in flight: %v", err)
		}
		left := time.Now()
		peer.discard() // until the client leaves
		synctest.Wait()
		if err := c.LastError(); !errors.Is(err, errLeaving) || time.Since(left) != 0 {
			t.Errorf("last error %v after %v", err, time.Since(left))
		}
	})
}
