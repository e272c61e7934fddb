package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// introduced plays a client up to the end of the hellos.
func introduced(t *testing.T, m *memory) *script {
	t.Helper()
	conn, err := m.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	s := newScript(t, conn)
	s.send(encodeHello(newHello(node("client"), "")))
	s.expect(frameHello)
	return s
}

func mustLog(t *testing.T, out *logBuffer, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(out.String(), w) {
			t.Errorf("the log does not say %q:\n%s", w, out)
		}
	}
}

// batch is a frame of calls, each encoded or not valid at all.
func batch(left time.Duration, calls ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint64(openFrame(nil, frameCalls), 0)
	for i, c := range calls {
		b = appendEntry(b, uint32(i), left, c)
	}
	return closeFrame(b, 0)
}

func encoded(t *testing.T, c *limiter.Call) []byte {
	t.Helper()
	b, err := appendCall(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// codes returns the codes of the next replies, by slot.
func (s *script) codes() map[uint64]Code {
	s.t.Helper()
	d := decoder{rest: s.expect(frameReplies)}
	d.uint64()
	codes := make(map[uint64]Code)
	var r reply
	for len(d.rest) > 0 {
		if err := r.next(&d); err != nil {
			s.t.Fatal(err)
		}
		codes[r.slot] = r.code
	}
	return codes
}

func TestOneBadCallDoesNotSpoilTheBatch(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		count := &counter{}
		m := newMemory()
		s := startServer(t, ServerOptions{Listener: m, Handler: count})
		peer := introduced(t, m)
		good := encoded(t, call(1, 1))
		peer.send(batch(time.Second, good, []byte("nonsense"), good))
		got := peer.codes()
		if got[0] != CodeOK || got[1] != CodeInvalid || got[2] != CodeOK || len(got) != 3 {
			t.Errorf("got %v", got)
		}
		if st := s.Stats(); count.total() != 2 || st.Invalid != 1 || st.Calls != 3 {
			t.Errorf("%d charged, %+v", count.total(), st)
		}
	})
}

// TestLateCallsAreNotCharged: what a call waited for the calls before it
// counts against it.
func TestLateCallsAreNotCharged(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		count := &counter{}
		slow := handlerFunc(func(call *limiter.Call, results []limiter.Result) Code {
			time.Sleep(10 * time.Millisecond)
			return count.count(call, results)
		})
		m := newMemory()
		s := startServer(t, ServerOptions{Listener: m, Handler: slow})
		peer := introduced(t, m)
		good := encoded(t, call(1, 1))
		peer.send(batch(25*time.Millisecond, good, good, good, good, good))
		got := peer.codes()
		want := []Code{CodeOK, CodeOK, CodeOK, CodeLate, CodeLate}
		for i, code := range want {
			if got[uint64(i)] != code {
				t.Errorf("call %d: %v, want %v", i, got[uint64(i)], code)
			}
		}
		if s.Stats().Late != 2 || count.total() != 3 {
			t.Errorf("%+v, %d charged", s.Stats(), count.total())
		}
	})
}

func TestClientsThatSendNonsense(t *testing.T) {
	many := make([][]byte, maxCallsPerFrame+1)
	for name, frame := range map[string][]byte{
		"an unknown kind":       {99, 0, 0, 0, 0},
		"a second hello":        encodeHello(newHello(node("client"), "")),
		"a frame for clients":   appendPing(nil, framePong, 0, 1),
		"a length out of range": {byte(frameState), 0xff, 0xff, 0xff, 0x7f},
		"an empty batch":        {byte(frameCalls), 0, 0, 0, 0},
		"a batch cut short":     closeFrame(append(binary.LittleEndian.AppendUint64(openFrame(nil, frameCalls), 0), 1, 1, 9), 0),
		"too many calls":        batch(time.Second, many...),
		"an overlong ping":      closeFrame(append(openFrame(nil, framePing), make([]byte, 30)...), 0),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var out logBuffer
				count := &counter{}
				m := newMemory()
				s := startServer(t, ServerOptions{Listener: m, Handler: count, Logger: out.logger()})
				peer := introduced(t, m)
				peer.send(frame)
				peer.discard()
				synctest.Wait()
				if s.Stats().Connections != 0 || count.total() != 0 {
					t.Errorf("%+v, %d charged", s.Stats(), count.total())
				}
				mustLog(t, &out, "connection of a peer lost", "malformed frame", "peer=client")
			})
		})
	}
}

// TestRandomBytes: strangers on the port change nothing, keep nothing and do
// not fill the log, and peers do not notice them.
func TestRandomBytes(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]string{"plain": "", "TLS": "secret"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out logBuffer
			count := &counter{}
			so, co := ServerOptions{Handler: count, Logger: out.logger()}, ClientOptions{}
			if secret != "" {
				so.TLS, co.TLS = secretTLS(t, secret), secretTLS(t, secret)
			}
			s, c := pair(t, so, co)
			random := rand.New(rand.NewPCG(1, 2))
			for i := range 200 {
				noise := make([]byte, random.IntN(300))
				for j := range noise {
					noise[j] = byte(random.Uint32())
				}
				if i%4 == 0 { // something like a frame
					noise = append([]byte{byte(1 + random.IntN(8)), byte(random.IntN(300)), 0, 0, 0}, noise...)
				}
				conn, err := net.Dial("tcp", s.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				conn.Write(noise)
				conn.Close()
			}
			eventually(t, "an end of the noise", func() bool { return s.Stats().Connections == 1 })
			if count.total() != 0 {
				t.Errorf("%d charged", count.total())
			}
			if _, err := ask(c, time.Minute, call(1, 1)); err != nil || c.Stats().Sessions != 1 {
				t.Errorf("the peer noticed: %v, %+v", err, c.Stats())
			}
			if n := strings.Count(out.String(), "\n"); n > 2*sampleTexts {
				t.Errorf("%d lines were logged", n)
			}
			mustLog(t, &out, "connection to the peer port rejected")
		})
	}
}

func TestSlowConnectionsAreCutOff(t *testing.T) {
	hi := encodeHello(newHello(node("client"), ""))
	for name, test := range map[string]struct {
		known bool // past the hellos
		send  []byte
		after time.Duration
	}{
		"says nothing":           {send: nil, after: handshakeTimeout},
		"half a header":          {send: hi[:3], after: handshakeTimeout},
		"half a hello":           {send: hi[:len(hi)-1], after: handshakeTimeout},
		"half a header, later":   {known: true, send: []byte{byte(framePing), 9}, after: frameTimeout},
		"half a frame":           {known: true, send: []byte{byte(framePing), 9, 0, 0, 0, 1}, after: frameTimeout},
		"half of a long frame":   {known: true, send: []byte{byte(frameState), 0, 0, 8, 0, 1}, after: frameTimeout},
		"does not read (a ping)": {known: true, send: appendPing(nil, framePing, 0, 1), after: frameTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				m := newMemory()
				s := startServer(t, ServerOptions{Listener: m})
				var conn net.Conn
				if test.known {
					conn = introduced(t, m).conn
				} else {
					conn, _ = m.dial(t.Context(), "", "")
				}
				if len(test.send) > 0 {
					if _, err := conn.Write(test.send); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(test.after - time.Nanosecond)
				synctest.Wait()
				if s.Stats().Connections != 1 {
					t.Errorf("cut off before %v", test.after)
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				if s.Stats().Connections != 0 {
					t.Errorf("still there after %v", test.after)
				}
			})
		})
	}
}

func TestAnIdlePeerMayStay(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMemory()
		startServer(t, ServerOptions{Listener: m})
		peer := introduced(t, m)
		time.Sleep(24 * time.Hour)
		peer.send(appendPing(nil, framePing, 0, 1))
		peer.expect(framePong)
	})
}

func TestConnectionsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var out logBuffer
		m := newMemory()
		s := startServer(t, ServerOptions{Listener: m, MaxConnections: 2, Logger: out.logger()})
		first := introduced(t, m)
		introduced(t, m)
		conn, _ := m.dial(t.Context(), "", "")
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the third connection: %v", err)
		}
		if st := s.Stats(); st.Connections != 2 || st.Rejected != 1 {
			t.Errorf("%+v", st)
		}
		mustLog(t, &out, "too many peer connections", "limit=2")
		first.conn.Close()
		synctest.Wait()
		introduced(t, m)
	})
}

func TestServerSaysGoodbye(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMemory()
		s := startServer(t, ServerOptions{Listener: m})
		stays, leaves := introduced(t, m), introduced(t, m)
		start := time.Now()
		closed := make(chan error)
		go func() { closed <- s.Close(context.Background()) }()
		for _, peer := range []*script{stays, leaves} {
			peer.expect(frameBye)
		}
		leaves.conn.Close()
		stays.send(batch(time.Second, encoded(t, call(1, 1))))
		if got := stays.codes(); got[0] != CodeClosing {
			t.Errorf("a call after the goodbye: %v", got[0])
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d != lingerFor {
			t.Errorf("closed after %v", d)
		}
		if _, err := m.dial(t.Context(), "", ""); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("closed again: %v", err)
		}
	})
}

// TestInterruptedFrame: a frame that was half there when the server began to
// close is still read.
func TestInterruptedFrame(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMemory()
		s := startServer(t, ServerOptions{Listener: m})
		peer := introduced(t, m)
		frame := batch(time.Second, encoded(t, call(1, 1)))
		peer.send(frame[:20])
		synctest.Wait()
		closed := make(chan error)
		go func() { closed <- s.Close(context.Background()) }()
		synctest.Wait()
		peer.send(frame[20:])
		if got := peer.codes(); got[0] != CodeClosing {
			t.Errorf("got %v", got[0])
		}
		peer.expect(frameBye)
		peer.conn.Close()
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

func TestCloseByContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMemory()
		s := startServer(t, ServerOptions{Listener: m})
		peer := introduced(t, m)
		go peer.discard()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 100*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// TestDrainLosesNoCall: every call is answered when a server closes under load.
func TestDrainLosesNoCall(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s, c := pair(t, ServerOptions{Handler: count}, ClientOptions{})
	type outcome struct {
		answered int64
		err      error
	}
	outcomes := make(chan outcome)
	const callers = 8
	for caller := range callers {
		go func() {
			var o outcome
			for {
				_, err := ask(c, time.Minute, call(uint64(caller), 1))
				var refused *RefusedError
				if errors.Is(err, ErrDown) || errors.As(err, &refused) && refused.Code == CodeClosing {
					break
				}
				if err != nil {
					o.err = err
					break
				}
				o.answered++
			}
			outcomes <- o
		}()
	}
	eventually(t, "some load", func() bool { return count.total() > 1000 })
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	var answered int64
	for range callers {
		o := <-outcomes
		answered += o.answered
		if o.err != nil {
			t.Errorf("a call was lost: %v", o.err)
		}
	}
	if n := count.total(); n != answered {
		t.Errorf("%d charged, %d answered", n, answered)
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	if _, err := Listen(ServerOptions{}); err == nil {
		t.Error("without a handler: no error")
	}
	s := startServer(t, ServerOptions{})
	_, err := Listen(ServerOptions{Address: s.Addr().String(), Self: node("n"), Handler: &counter{}, Placement: placed()})
	if err == nil || !strings.Contains(err.Error(), s.Addr().String()) {
		t.Errorf("a port in use: %v", err)
	}
}

// TestLargeState: a placement of the largest size passes, either way.
func TestLargeState(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte{1}, MaxStateBytes)
	at := make(chan int, 16)
	p := func(digest uint64) Placement { return &blob{digest: digest, state: big, got: at} }
	pair(t, ServerOptions{Placement: p(1)}, ClientOptions{Placement: p(2)})
	for range 2 {
		if n := <-at; n != len(big) {
			t.Errorf("%d bytes arrived", n)
		}
	}
}

// blob is a Placement that never changes.
type blob struct {
	digest uint64
	state  []byte
	got    chan int
}

func (b *blob) Digest() uint64 { return b.digest }
func (b *blob) State() []byte  { return b.state }
func (b *blob) Merge(state []byte) error {
	select {
	case b.got <- len(state):
	default:
	}
	return nil
}
