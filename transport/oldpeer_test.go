package transport

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// oldProtocol makes the server at the other end of a connection look as if
// it spoke no protocol above version.
type oldProtocol struct {
	net.Conn
	version byte
	read    int
}

// maxAt is where a hello frame has the highest version: behind the header,
// the magic and the lowest.
const maxAt = headerBytes + 4 + 1

func (c *oldProtocol) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if at := maxAt - c.read; at >= 0 && at < n {
		p[at] = c.version
	}
	c.read += n
	return n, err
}

// A peer of an older version answers what it knows, and is asked nothing
// else.
func TestOldPeerIsAskedOnlyWhatItKnows(t *testing.T) {
	t.Parallel()
	look := sampleLeases()[0] // at a limit that an old peer does not know
	look.Op = limiter.Peek
	leases := append(sampleLeases(), look)
	for _, row := range []struct {
		version        byte
		known, unknown []*limiter.Call
	}{
		{1, nil, append(sampleHolds(), leases...)},
		{2, sampleHolds(), leases},
		{3, append(sampleHolds(), leases...), nil},
	} {
		spent := &counter{}
		_, c := pair(t, ServerOptions{Handler: spent}, ClientOptions{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				return &oldProtocol{Conn: conn, version: row.version}, err
			},
		})
		for _, call := range row.unknown {
			if _, err := ask(c, time.Minute, call); !errors.Is(err, ErrOldPeer) {
				t.Errorf("version %d, op %d: %v", row.version, call.Op, err)
			}
		}
		for _, call := range append(row.known, call(1, 2)) {
			if r, err := ask(c, time.Minute, call); err != nil || !r.Allowed {
				t.Errorf("version %d, op %d: %+v, %v", row.version, call.Op, r, err)
			}
		}
		if spent.total() == 0 {
			t.Errorf("version %d: nothing arrived", row.version)
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
