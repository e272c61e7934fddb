package transport

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// ledger is a Feed of numbers, each written as recordBytes bytes, in the order
// in which they came.
type ledger struct {
	recordBytes int           // at least 8
	slow        time.Duration // what a merge takes

	mu     sync.Mutex
	rows   []uint64
	merges int
}

func (l *ledger) Head() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(len(l.rows))
}

func (l *ledger) Since(b []byte, after uint64, limit int) ([]byte, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for start := len(b); after < uint64(len(l.rows)); after++ {
		if len(b) > start && len(b)-start+l.recordBytes > limit {
			break
		}
		b = binary.LittleEndian.AppendUint64(b, l.rows[after])
		b = append(b, make([]byte, l.recordBytes-8)...)
	}
	return b, after
}

func (l *ledger) Merge(records []byte) error {
	time.Sleep(l.slow)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.merges++
	if len(records)%l.recordBytes != 0 {
		return errors.New("odd length")
	}
	for record := range slices.Chunk(records, l.recordBytes) {
		if n := binary.LittleEndian.Uint64(record); !slices.Contains(l.rows, n) {
			l.rows = append(l.rows, n)
		}
	}
	return nil
}

func (l *ledger) add(n ...uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append(l.rows, n...)
}

// has reports whether l holds exactly n.
func (l *ledger) has(n ...uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Equal(slices.Sorted(slices.Values(l.rows)), n)
}

func holding(n ...uint64) *ledger { return &ledger{recordBytes: 8, rows: n} }

// Both ends tell each other all that they have, and what is new from then on,
// without a call, and then no more.
func TestFeedsBecomeEqual(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		atServer, atClient := holding(1, 2), holding(3)
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, Feed: atServer})
		startClient(t, ClientOptions{DialContext: m.dial, Feed: atClient})
		time.Sleep(2 * pingEvery)
		if !atServer.has(1, 2, 3) || !atClient.has(1, 2, 3) {
			t.Fatalf("server %v, client %v", atServer.rows, atClient.rows)
		}
		atServer.add(4)
		atClient.add(5)
		time.Sleep(2 * pingEvery)
		if !atServer.has(1, 2, 3, 4, 5) || !atClient.has(1, 2, 3, 4, 5) {
			t.Errorf("later: server %v, client %v", atServer.rows, atClient.rows)
		}
		time.Sleep(time.Second)
		merges := atServer.merges + atClient.merges
		time.Sleep(time.Hour)
		if again := atServer.merges + atClient.merges - merges; again != 0 {
			t.Errorf("%d times told again", again)
		}
	})
}

// A connection that is made anew tells all again: its peer may have forgotten.
func TestNewConnectionTellsAll(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, Feed: holding(1, 2)})
		for range 2 {
			feed := holding()
			c := startClient(t, ClientOptions{DialContext: m.dial, Feed: feed})
			time.Sleep(2 * pingEvery)
			if !feed.has(1, 2) {
				t.Errorf("got %v", feed.rows)
			}
			c.Close()
			<-c.Done()
		}
	})
}

// Whoever has an answer knows what the peer knew when it gave it, and the peer
// what the caller knew.
func TestAnswersComeAfterTheFeed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		atServer, atClient := holding(), holding()
		atClient.slow, atServer.slow = time.Millisecond, time.Millisecond
		var missed bool
		h := handlerFunc(func(call *limiter.Call, results []limiter.Result) Code {
			missed = missed || !slices.Contains(atServer.rows, call.Subject.Lo)
			atServer.add(call.Subject.Lo + 1000)
			results[0].Allowed = true
			return CodeOK
		})
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, Handler: h, Feed: atServer})
		c := startClient(t, ClientOptions{DialContext: m.dial, Feed: atClient})
		synctest.Wait()
		for n := uint64(1); n <= 100; n++ {
			atClient.add(n)
			if _, err := ask(c, time.Second, call(n, 1)); err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(atClient.rows, n+1000) {
				t.Fatalf("call %d is answered before what came with it", n)
			}
		}
		if missed {
			t.Error("a call was decided before what came with it")
		}
	})
}

// A long feed is told in parts, between which calls and heartbeats go on.
func TestLongFeedsLeaveRoom(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		long := &ledger{recordBytes: 8 << 10}
		for n := range uint64(512) { // 4 MiB
			long.add(n)
		}
		got := &ledger{recordBytes: 8 << 10}
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, Feed: long})
		peer := introduced(t, m)
		longest := 0
		for pong := 0; got.Head() < long.Head(); pong++ {
			peer.send(appendPing(nil, framePing, 0, 1))
			told := 0
			for {
				k, body, _, err := peer.in.next()
				if err != nil {
					t.Fatal(err)
				}
				if k == framePong {
					break
				}
				told += len(body)
				if k != frameFeed || len(body) > feedFrameBytes || told > feedBurst+feedFrameBytes {
					t.Fatalf("pong %d after %d bytes of kind %d", pong, told, k)
				}
				if err := got.Merge(body); err != nil {
					t.Fatal(err)
				}
			}
			longest = max(longest, told)
		}
		if longest < feedBurst/2 {
			t.Errorf("at most %d bytes at once", longest)
		}

		atClient := &ledger{recordBytes: 8 << 10}
		c := startClient(t, ClientOptions{DialContext: m.dial, Feed: atClient})
		synctest.Wait()
		for atClient.Head() < long.Head() {
			if _, err := ask(c, 10*time.Millisecond, call(1, 1)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// An idle session on demand hears of what is new when it asks, and only then;
// what it has itself goes along.
func TestRefresh(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		atServer, atClient := holding(), holding()
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, Feed: atServer})
		c := startClient(t, ClientOptions{DialContext: m.dial, Feed: atClient, OnDemand: true})
		time.Sleep(time.Second)
		atServer.add(1)
		atClient.add(2)
		time.Sleep(time.Hour)
		if !atServer.has(1) || !atClient.has(2) {
			t.Errorf("the session is not idle: server %v, client %v", atServer.rows, atClient.rows)
		}
		c.Refresh()
		synctest.Wait()
		if !atServer.has(1, 2) || !atClient.has(1, 2) {
			t.Errorf("server %v, client %v", atServer.rows, atClient.rows)
		}
		if !c.Reachable() {
			t.Error("the session has suffered")
		}
		m.cut()
		synctest.Wait()
		c.Refresh() // nobody is there, and nothing happens
	})
}

// A peer that refreshes and does not answer is found out.
func TestRefreshFindsADeadPeer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, peer := dialed(t, ClientOptions{OnDemand: true})
		go peer.discard()
		time.Sleep(time.Hour)
		c.Refresh()
		time.Sleep(downAfter)
		synctest.Wait()
		if c.Reachable() {
			t.Error("reachable 300 ms after a refresh without an answer")
		}
	})
}

func TestRecordsThatCannotBeMerged(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var out logBuffer
		odd := closeFrame(append(openFrame(nil, frameFeed), "odd"...), 0)
		c, server := dialed(t, ClientOptions{Logger: out.logger(), Peer: "server", Feed: holding()})
		server.send(odd)
		failed := asking(c, time.Second)
		slots, _ := server.entries()
		server.answer(0, slots...)
		if err := <-failed; err != nil {
			t.Errorf("the session did not survive: %v", err)
		}
		mustLog(t, &out, "the records of the peer were not taken in", "odd length")

		m := newMemory()
		startServer(t, ServerOptions{Listener: m, Logger: out.logger(), Feed: holding()})
		client := introduced(t, m)
		client.send(odd)
		client.send(appendPing(nil, framePing, 0, 1))
		client.expect(framePong)
		mustLog(t, &out, "the records of a peer were not taken in")
	})
}

// Peers of older versions, and nodes without a feed, are not bothered.
func TestFeedIsForThoseWhoKnowIt(t *testing.T) {
	t.Parallel()
	for protocol := uint8(1); protocol < protocolV3; protocol++ {
		atServer, atClient := holding(1), holding(2)
		o := oldPeer(protocol)
		o.Feed = atClient
		_, c := pair(t, ServerOptions{Feed: atServer}, o)
		if _, err := ask(c, time.Minute, call(1, 1)); err != nil {
			t.Error(err)
		}
		if !atServer.has(1) {
			t.Errorf("a server of version %d was told %v", protocol, atServer.rows)
		}
	}
	_, c := pair(t, ServerOptions{Feed: holding(1)}, ClientOptions{})
	if _, err := ask(c, time.Minute, call(1, 1)); err != nil {
		t.Errorf("without a feed: %v", err)
	}
}

func TestOldClientsAreToldNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for protocol := uint8(1); protocol <= protocolV3; protocol++ {
			m := newMemory()
			startServer(t, ServerOptions{Listener: m, Feed: holding(1)})
			conn, err := m.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			peer := newScript(t, conn)
			hi := newHello(node("client"), "")
			hi.max = protocol
			peer.send(encodeHello(hi))
			peer.expect(frameHello)
			peer.send(appendPing(nil, framePing, 0, 1))
			if protocol == protocolV3 {
				peer.expect(frameFeed)
			}
			peer.expect(framePong)
		}
	})
}
