package transport

import (
	"encoding/binary"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func TestPlacementsBecomeEqual(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		atServer, atClient := placed(1, 2), placed(4)
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, Placement: atServer})
		startClient(t, ClientOptions{DialContext: m.dial, Placement: atClient})
		time.Sleep(2 * pingEvery) // no call is needed
		if atServer.Digest() != 7 || atClient.Digest() != 7 {
			t.Errorf("server %v, client %v", atServer.set, atClient.set)
		}
		time.Sleep(time.Minute)
		if atServer.merges != 1 || atClient.merges != 1 {
			t.Errorf("merged %d and %d times", atServer.merges, atClient.merges)
		}
	})
}

// TestNotOwnerComesAfterThePlacement: whoever is told to ask elsewhere knows
// by then where.
func TestNotOwnerComesAfterThePlacement(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		atServer, atClient := placed(), placed()
		atClient.slow = time.Millisecond // an answer that does not wait for the merge comes before it
		h := handlerFunc(func(call *limiter.Call, _ []limiter.Result) Code {
			atServer.mu.Lock()
			atServer.set = append(atServer.set, call.Subject.Lo) // the placement changes under the call
			atServer.mu.Unlock()
			return CodeNotOwner
		})
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, Handler: h, Placement: atServer})
		c := startClient(t, ClientOptions{DialContext: m.dial, Placement: atClient})
		synctest.Wait()
		for n := uint64(1); n <= 100; n++ {
			_, err := ask(c, time.Second, call(n, 1))
			var refused *RefusedError
			if !errors.As(err, &refused) || refused.Code != CodeNotOwner || !atClient.has(n) {
				t.Fatalf("call %d: %v, placement at the client %v", n, err, atClient.set)
			}
		}
	})
}

// TestStateIsNotRepeated: for one pair of digests the state goes out once
// per 20 ms, however many frames show them.
func TestStateIsNotRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, Placement: placed(1)})
		peer := introduced(t, m)
		var kinds []kind
		go func() {
			for {
				k, _, _, err := peer.in.next()
				if err != nil {
					return
				}
				kinds = append(kinds, k)
			}
		}()
		for range 40 { // one frame a millisecond, and the client never learns
			peer.send(appendPing(nil, framePing, 99, 1))
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		states, at := 0, []int(nil)
		for i, k := range kinds {
			if k == frameState {
				states++
				at = append(at, i)
			}
		}
		if states != 2 || len(kinds) != 42 || at[0] != 0 {
			t.Errorf("%d states in %d frames, at %v", states, len(kinds), at)
		}
	})
}

// TestClientHandsOverItsPlacement: a server that shows another digest is
// sent the state before the next calls.
func TestClientHandsOverItsPlacement(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{Placement: placed(5)})
		first := asking(c, time.Second)
		slots, _ := peer.entries()
		peer.answer(4, slots...)
		state := peer.expect(frameState)
		if n := binary.LittleEndian.Uint64(state); n != 5 {
			t.Errorf("the state is %d", n)
		}
		second := asking(c, time.Second)
		slots, _ = peer.entries()
		peer.answer(4, slots...) // again, but within 20 ms
		third := asking(c, time.Second)
		slots, _ = peer.entries()
		peer.answer(5, slots...)
		if err := errors.Join(<-first, <-second, <-third); err != nil {
			t.Error(err)
		}
	})
}

func TestPlacementThatCannotBeMerged(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var out logBuffer
		c, peer := dialed(t, ClientOptions{Logger: out.logger(), Peer: "server"})
		peer.send(appendState(nil, []byte("odd")))
		failed := asking(c, time.Second)
		slots, _ := peer.entries()
		peer.answer(0, slots...)
		if err := <-failed; err != nil {
			t.Errorf("the session did not survive: %v", err)
		}
		mustLog(t, &out, `the peer's placement was not taken in`, "odd length")
	})
}
