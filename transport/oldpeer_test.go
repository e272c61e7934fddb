package transport

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// firstProtocol makes the server at the other end of a connection look as if
// it spoke protocol 1 only.
type firstProtocol struct {
	net.Conn
	read int
}

// maxAt is where a hello frame has the highest version: behind the header,
// the magic and the lowest.
const maxAt = headerBytes + 4 + 1

func (c *firstProtocol) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if at := maxAt - c.read; at >= 0 && at < n {
		p[at] = 1
	}
	c.read += n
	return n, err
}

// A peer of an older version answers what it knows, and is asked nothing
// else.
func TestOldPeerIsAskedForWhatItKnows(t *testing.T) {
	t.Parallel()
	spent := &counter{}
	_, c := pair(t, ServerOptions{Handler: spent}, ClientOptions{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return &firstProtocol{Conn: conn}, err
		},
	})
	for _, call := range append(sampleHolds(), sampleReceipts()...) {
		if _, err := ask(c, time.Minute, call); !errors.Is(err, ErrOldPeer) {
			t.Errorf("op %d: %v", call.Op, err)
		}
	}
	if r, err := ask(c, time.Minute, call(1, 2)); err != nil || !r.Allowed || spent.total() != 2 {
		t.Errorf("a take: %+v, %v, %d spent", r, err, spent.total())
	}
	_, current := pair(t, ServerOptions{}, ClientOptions{})
	for _, call := range []*limiter.Call{sampleHolds()[0], sampleReceipts()[0]} {
		if r, err := ask(current, time.Minute, call); err != nil || !r.Allowed {
			t.Errorf("a peer of this version, op %d: %+v, %v", call.Op, r, err)
		}
	}
}

// An older client takes a contended denial for a denial, and a newer one for
// what it is.
func TestContendedOnTheWire(t *testing.T) {
	t.Parallel()
	var r limiter.Result
	b := appendResult(nil, &limiter.Result{Contended: true, Limit: 7})
	if decodeResult(&decoder{rest: b}, &r); r.Allowed || !r.Contended || b[0] == 1 {
		t.Errorf("%x became %+v", b, r)
	}
}
