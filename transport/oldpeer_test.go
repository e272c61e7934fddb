package transport

import (
	"context"
	"errors"
	"net"
	"slices"
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
func TestOldPeerIsAskedOnlyWhatItKnows(t *testing.T) {
	t.Parallel()
	unit, quota, durable := call(1, 2), call(1, 2), call(1, 2) // at limits that an old peer does not know
	unit.Op, unit.Charges[0].Limit = limiter.Peek, sampleLeases()[0].Charges[0].Limit
	quota.Charges[0].Limit.Algorithm = limiter.Quota
	durable.Charges[0].Limit.Algorithm, durable.Charges[0].Limit.Durable = limiter.FixedWindow, true
	ofV3 := slices.Concat(sampleLeases(), sampleReceipts(), []*limiter.Call{unit, quota, durable})
	for _, row := range []struct {
		latest         uint8
		known, unknown []*limiter.Call
	}{
		{minProtocol, nil, append(sampleHolds(), ofV3...)},
		{protocolHolds, sampleHolds(), ofV3},
		{protocolV3, append(sampleHolds(), ofV3...), nil},
	} {
		spent := &counter{}
		_, c := pair(t, ServerOptions{Handler: spent}, oldPeer(row.latest))
		for _, call := range row.unknown {
			if _, err := ask(c, time.Minute, call); !errors.Is(err, ErrOldPeer) {
				t.Errorf("version %d, op %d: %v", row.latest, call.Op, err)
			}
		}
		for _, call := range append(row.known, call(1, 2)) {
			if r, err := ask(c, time.Minute, call); err != nil || !r.Allowed {
				t.Errorf("version %d, op %d: %+v, %v", row.latest, call.Op, r, err)
			}
		}
		if spent.total() == 0 {
			t.Errorf("version %d: nothing arrived", row.latest)
		}
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
		knows := latest >= protocolV3
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
