package transport

import (
	"bytes"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func FuzzCall(f *testing.F) {
	limits := sampleLimits(f)
	for i := range limits {
		body, err := appendCall(nil, callOf(limits[i:i+1]))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, c := range slices.Concat(sampleHolds(), sampleLeases(), sampleReceipts()) {
		body, err := appendCall(nil, c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, c := range sampleCooldowns(f) {
		body, err := appendCall(nil, c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(appendCooldowns(body, c))
	}
	f.Add([]byte{})
	var z zones
	f.Fuzz(func(t *testing.T, body []byte) {
		var first, second callSpace
		if !first.decode(body, &z) {
			return
		}
		again, err := appendCall(nil, &first.call)
		if err != nil {
			t.Fatalf("accepted, but cannot be sent on: %v", err)
		}
		again = appendCooldowns(again, &first.call)
		if !second.decode(again, &z) || !sameCall(&first.call, &second.call) {
			t.Errorf("%+v became %+v", first.call, second.call)
		}
	})
}

func FuzzEntries(f *testing.F) {
	body, err := appendCall(nil, call(1, 1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(appendEntry(appendEntry(nil, 1, time.Second, body), 2, time.Hour, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := decoder{rest: b}
		for len(d.rest) > 0 {
			before := len(d.rest)
			e, err := nextEntry(&d)
			if err != nil {
				return
			}
			if e.left < 0 || e.left > maxLeft || len(d.rest) >= before {
				t.Fatalf("entry %+v, %d of %d bytes left", e, len(d.rest), before)
			}
		}
	})
}

func FuzzReply(f *testing.F) {
	f.Add(appendReply(nil, 1, CodeOK, []limiter.Result{{Allowed: true, RetryAfter: limiter.Never}}))
	f.Add(appendReply(nil, 300, CodeNotOwner, nil))
	f.Add(appendReply(nil, 2, CodeOK, []limiter.Result{{Contended: true, Limit: 5}, {Allowed: true}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := decoder{rest: b}
		var r, again reply
		for len(d.rest) > 0 {
			if r.next(&d) != nil {
				return
			}
			second := decoder{rest: appendReply(nil, r.slot, r.code, r.results)}
			if again.next(&second) != nil || !second.whole() || again.slot != r.slot || again.code != r.code {
				t.Fatalf("%+v became %+v", r, again)
			}
			for i := range r.results {
				if r.results[i] != again.results[i] {
					t.Fatalf("%+v became %+v", r.results[i], again.results[i])
				}
			}
		}
	})
}

func FuzzHello(f *testing.F) {
	f.Add(encodeHello(newHello(node("n1"), "n2"))[headerBytes:])
	first := newHello(node("n1"), "")
	first.max = 1
	f.Add(encodeHello(first)[headerBytes:])
	f.Fuzz(func(t *testing.T, body []byte) {
		h, err := decodeHello(body)
		if err != nil {
			return
		}
		again, err := decodeHello(encodeHello(h)[headerBytes:])
		if err != nil || *again != *h {
			t.Errorf("%+v became %+v, %v", h, again, err)
		}
	})
}

func FuzzRefusal(f *testing.F) {
	f.Add(encodeRefusal(&refusal{reason: reasonSelf, detail: "why"})[headerBytes:])
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := decodeRefusal(body)
		if err != nil {
			return
		}
		again, err := decodeRefusal(encodeRefusal(r)[headerBytes:])
		if err != nil || *again != *r {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
	})
}

func FuzzPing(f *testing.F) {
	f.Add(appendPing(nil, framePong, 1, 300)[headerBytes:])
	f.Fuzz(func(t *testing.T, body []byte) {
		digest, seq, err := decodePing(body)
		if err != nil {
			return
		}
		d, s, err := decodePing(appendPing(nil, framePing, digest, seq)[headerBytes:])
		if err != nil || d != digest || s != seq {
			t.Errorf("%d %d became %d %d, %v", digest, seq, d, s, err)
		}
	})
}

// bytesConn is a connection that delivers what it holds, a few bytes at a time.
type bytesConn struct {
	net.Conn
	from *bytes.Reader
	step int
}

func (c *bytesConn) Read(p []byte) (int, error) { return c.from.Read(p[:min(len(p), c.step)]) }

func (c *bytesConn) SetReadDeadline(time.Time) error { return nil }

func FuzzFrameReader(f *testing.F) {
	f.Add(appendState(appendPing(nil, framePing, 1, 2), make([]byte, bufferBytes)), uint16(100))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), uint16(3))
	f.Add([]byte{3, 0xff, 0xff, 0xff, 0xff}, uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, step uint16) {
		r := newFrameReader(&bytesConn{from: bytes.NewReader(b), step: int(step) + 1}, newClock())
		r.limit, r.patience = maxFrameBytes, time.Second
		var read []byte
		for {
			ready := r.ready()
			k, body, _, err := r.next()
			if err != nil {
				if ready && !errors.Is(err, errNotPeer) && !errors.Is(err, errMalformed) {
					t.Fatalf("a frame was ready, but: %v", err)
				}
				break
			}
			read = closeFrame(append(openFrame(read, k), body...), len(read))
		}
		if !bytes.HasPrefix(b, read) {
			t.Error("the frames are not those that were sent")
		}
	})
}
