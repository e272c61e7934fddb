package transport

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// oldProtocol makes the server at the other end of a connection look as if it
// spoke no later protocol than the given one.
type oldProtocol struct {
	net.Conn
	latest uint8
	read   int
}

// oldPeer are the options of a client whose peer speaks no later protocol.
func oldPeer(latest uint8) ClientOptions {
	return ClientOptions{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &oldProtocol{Conn: conn, latest: latest}, err
	}}
}

// maxAt is where a hello frame has the highest version: behind the header,
// the magic and the lowest.
const maxAt = headerBytes + 4 + 1

func (c *oldProtocol) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if at := maxAt - c.read; at >= 0 && at < n {
		p[at] = c.latest
	}
	c.read += n
	return n, err
}

// A peer of an older version answers what it knows, and is asked nothing
// else.
func TestOldPeerIsAskedForNoHolds(t *testing.T) {
	t.Parallel()
	spent := &counter{}
	_, c := pair(t, ServerOptions{Handler: spent}, oldPeer(protocolHolds-1))
	for _, call := range sampleHolds() {
		if _, err := ask(c, time.Minute, call); !errors.Is(err, ErrOldPeer) {
			t.Errorf("op %d: %v", call.Op, err)
		}
	}
	if r, err := ask(c, time.Minute, call(1, 2)); err != nil || !r.Allowed || spent.total() != 2 {
		t.Errorf("a take: %+v, %v, %d spent", r, err, spent.total())
	}
	_, current := pair(t, ServerOptions{}, ClientOptions{})
	if r, err := ask(current, time.Minute, sampleHolds()[0]); err != nil || !r.Allowed {
		t.Errorf("a peer of this version: %+v, %v", r, err)
	}
}

// keeper is a Handler that keeps the cool-downs of the last call.
type keeper struct {
	counter
	patient bool
	charge  limiter.Charge
}

func (k *keeper) Handle(call *limiter.Call, results []limiter.Result) (Code, Later) {
	k.patient, k.charge = call.Patient, call.Charges[0]
	return k.counter.Handle(call, results)
}

// A peer of an older version is asked for all but the cool-down.
func TestOldPeerIsAskedForNoCooldowns(t *testing.T) {
	t.Parallel()
	for latest := uint8(minProtocol); latest <= maxProtocol; latest++ {
		asked := new(keeper)
		_, c := pair(t, ServerOptions{Handler: asked}, oldPeer(latest))
		asks := call(1, 2)
		asks.Patient, asks.Charges[0].Cooldown, asks.Charges[0].Extend = true, time.Minute, true
		if r, err := ask(c, time.Minute, asks); err != nil || !r.Allowed || asked.total() != 2 {
			t.Errorf("protocol %d: %+v, %v, %d spent", latest, r, err, asked.total())
		}
		knows := latest >= protocolCooldowns
		if got := asked.charge; (got.Cooldown == time.Minute) != knows || got.Extend != knows || asked.patient != knows {
			t.Errorf("protocol %d: patient %v, %+v", latest, asked.patient, got)
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
