package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// ClientOptions configure a [Client].
type ClientOptions struct {
	// Address is the peer's, host:port. Required.
	Address string
	// Peer is the id of the node that is expected there: a connection that
	// reaches another is refused. Empty: any.
	Peer string
	// Self is this node. Required.
	Self Identity
	// Placement is this node's. Required.
	Placement Placement
	// Feed is this node's. Nil: it has none.
	Feed Feed
	// TLS is the configuration that [SecretTLS] or [FilesTLS] makes. Nil:
	// plain TCP.
	TLS *tls.Config
	// OnDemand sends heartbeats only while calls are outstanding: for nodes
	// in the client role. An idle session then counts as reachable for as
	// long as the connection stands, and after a long idle time the first
	// call finds out by its deadline.
	OnDemand bool
	// DialContext opens the connection. Nil: a net.Dialer.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
	// Queue is the number of calls that may wait to be sent. 0 is 8,192.
	Queue int
	// Window is the number of calls that may have been sent and not yet be
	// answered. 0 is 4,096.
	Window int
	// Logger receives sessions made and lost. Nil: none.
	Logger *slog.Logger

	// silence replaces downAfter where a test runs on a machine too busy to
	// keep time. 0: the protocol's.
	silence time.Duration
}

// Client is this node's conversation with one peer: one connection at a
// time, made again whenever it is lost. It is safe for concurrent use.
type Client struct {
	options ClientOptions
	log     *sampledLog
	clock   clock
	pool    sync.Pool // of *pending
	session atomic.Pointer[session]
	last    atomic.Pointer[error]
	cancel  context.CancelFunc
	done    chan struct{}
	stats   clientCounters
}

// Dial makes a Client. It returns at once: the client connects, and connects
// again, in the background until it is closed.
func Dial(o ClientOptions) *Client {
	o.Queue = cmp.Or(o.Queue, 8192)
	o.Window = cmp.Or(o.Window, 4096)
	o.silence = cmp.Or(o.silence, downAfter)
	if o.DialContext == nil {
		o.DialContext = new(net.Dialer).DialContext
	}
	c := &Client{
		options: o,
		clock:   newClock(),
		pool:    sync.Pool{New: func() any { return newPending() }},
		done:    make(chan struct{}),
	}
	c.log = newSampledLog(o.Logger, c.clock)
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(context.Background())
	go c.run(ctx)
	return c
}

// Do asks the peer to decide call and fills results, which has one element
// for each charge, only if it returns nil. It returns by the deadline or when
// ctx ends, whichever is first.
//
// The errors are ErrDown, ErrQueueFull and ErrOldPeer (nothing was sent), ErrDeadline,
// ErrBroken and that of ctx (the call may have been charged if its bytes were
// sent), a *[RefusedError] (answered, nothing charged), and others for calls
// that cannot be sent at all. No call is ever sent twice.
func (c *Client) Do(ctx context.Context, deadline time.Time, call *limiter.Call, results []limiter.Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := c.session.Load()
	if s == nil {
		return ErrDown
	}
	p := c.pool.Get().(*pending)
	if err := p.prepare(call, results); err != nil {
		c.pool.Put(p)
		return err
	}
	p.deadline = deadline.Sub(c.clock.start)
	if err := s.enqueue(p); err != nil {
		c.pool.Put(p)
		return err
	}
	c.stats.calls.Add(1)
	p.timer.Reset(time.Until(deadline))
	err := ErrDeadline
	select {
	case <-p.finished:
		p.timer.Stop()
		return c.collect(p, results)
	case <-p.timer.C:
	case <-ctx.Done():
		p.timer.Stop()
		err = ctx.Err()
	}
	switch s.leave(p) {
	case leftFinished: // the answer came first after all
		<-p.finished
		return c.collect(p, results)
	case leftQueued:
		c.pool.Put(p)
	case leftSent: // the session puts it back
	}
	c.stats.late.Add(1)
	return err
}

// collect takes the outcome of a finished call.
func (c *Client) collect(p *pending, results []limiter.Result) error {
	err := p.err
	if err == nil {
		copy(results, p.results)
	}
	c.pool.Put(p)
	return err
}

// Reachable reports whether the session is up now: the connection stands,
// the peer has answered something that was sent within the last 300 ms, and
// after a loss has been well for 1 s. It reads the clock.
func (c *Client) Reachable() bool {
	s := c.session.Load()
	return s != nil && s.up()
}

// Refresh has the peer asked for a sign of life, which comes with what its
// feed has that is new. A session that is not OnDemand needs none: it asks all
// the time. Refresh does not wait for the answer.
func (c *Client) Refresh() {
	if s := c.session.Load(); s != nil {
		s.refresh()
	}
}

// LastError is why there is no session at the moment, or nil if there is one
// or the first attempt is still under way.
func (c *Client) LastError() error {
	if err := c.last.Load(); err != nil {
		return *err
	}
	return nil
}

// Close ends the session and all calls in flight, and does not wait for
// them, so that it may be called from anywhere, [Placement.Merge] included.
// It is idempotent.
func (c *Client) Close() { c.cancel() }

// Done is closed when a closed client has let go of everything.
func (c *Client) Done() <-chan struct{} { return c.done }
