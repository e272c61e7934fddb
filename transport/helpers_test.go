package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/murmurate/murmurate/limiter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handlerFunc makes a function a Handler.
type handlerFunc func(call *limiter.Call, results []limiter.Result) Code

func (f handlerFunc) Handle(call *limiter.Call, results []limiter.Result) (Code, Later) {
	return f(call, results), nil
}

// counter is a Handler that adds up costs per subject and answers with the
// sum as Remaining.
type counter struct {
	mu    sync.Mutex
	spent map[limiter.Subject]int64
}

func (c *counter) Handle(call *limiter.Call, results []limiter.Result) (Code, Later) {
	return c.count(call, results), nil
}

func (c *counter) count(call *limiter.Call, results []limiter.Result) Code {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spent == nil {
		c.spent = make(map[limiter.Subject]int64)
	}
	for i := range call.Charges {
		c.spent[call.Subject] += call.Charges[i].Cost
		results[i] = limiter.Result{Allowed: true, Limit: call.Charges[i].Limit.Count, Remaining: c.spent[call.Subject]}
	}
	return CodeOK
}

func (c *counter) of(s limiter.Subject) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spent[s]
}

func (c *counter) total() (sum int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.spent {
		sum += n
	}
	return sum
}

// numbers is a Placement: a set of numbers that grows by union.
type numbers struct {
	slow   time.Duration // what a merge takes
	mu     sync.Mutex
	set    []uint64
	merges int
}

func placed(n ...uint64) *numbers { return &numbers{set: n} }

func (p *numbers) Digest() (sum uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.set {
		sum += n
	}
	return sum
}

func (p *numbers) State() (b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.set {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

func (p *numbers) Merge(state []byte) error {
	time.Sleep(p.slow)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.merges++
	d := decoder{rest: state}
	for len(d.rest) > 0 {
		if n := d.uint64(); !d.bad && !slices.Contains(p.set, n) {
			p.set = append(p.set, n)
		}
	}
	if d.bad {
		return errors.New("odd length")
	}
	return nil
}

func (p *numbers) has(n uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.set, n)
}

func node(id string) Identity { return Identity{ID: id, Incarnation: 1, Cluster: 7, Version: "test"} }

// call returns a call of one token bucket on the subject {0, subject}.
func call(subject uint64, cost int64) *limiter.Call {
	l := &limiter.Limit{Name: "l", Algorithm: limiter.TokenBucket, Count: 100, Period: time.Minute}
	return &limiter.Call{
		Subject: limiter.Subject{Lo: subject},
		Charges: []limiter.Charge{{Limit: l, Tag: 5, Cost: cost}},
	}
}

// ask does one call with a deadline from now.
func ask(c *Client, within time.Duration, call *limiter.Call) (limiter.Result, error) {
	var r [limiter.MaxCharges]limiter.Result
	err := c.Do(context.Background(), time.Now().Add(within), call, r[:len(call.Charges)])
	return r[0], err
}

// logBuffer is a logger's output.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// startServer serves on loopback, or on o.Listener, until the test ends.
func startServer(t testing.TB, o ServerOptions) *Server {
	t.Helper()
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.Self.ID == "" {
		o.Self = node("server")
	}
	if o.Handler == nil {
		o.Handler = &counter{}
	}
	if o.Placement == nil {
		o.Placement = placed()
	}
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("close the server: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return s
}

// startClient dials until the test ends.
func startClient(t testing.TB, o ClientOptions) *Client {
	t.Helper()
	if o.Self.ID == "" {
		o.Self = node("client")
	}
	if o.Placement == nil {
		o.Placement = placed()
	}
	c := Dial(o)
	t.Cleanup(func() {
		c.Close()
		<-c.Done()
	})
	return c
}

// eventually waits for a condition that comes about by itself.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("never came about: %s", what)
		}
	}
}

// pair is a server and a client that has reached it, on loopback and real
// time: the machine may stall for longer than a session may be silent.
func pair(t testing.TB, so ServerOptions, co ClientOptions) (*Server, *Client) {
	t.Helper()
	s := startServer(t, so)
	co.Address, co.silence = s.Addr().String(), time.Minute
	c := startClient(t, co)
	eventually(t, "a session", c.Reachable)
	return s, c
}

// memory is a network inside the process for one listener: connections are
// net.Pipes, whose writes wait for their readers. Both ends can be cut off.
type memory struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex
	refuse  bool
	dials   []time.Time
	servers []net.Conn // the accepting ends
}

func newMemory() *memory {
	return &memory{accept: make(chan net.Conn, 16), closed: make(chan struct{})}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.accept:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (m *memory) dial(context.Context, string, string) (net.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dials = append(m.dials, time.Now())
	if m.refuse {
		return nil, errors.New("connection refused")
	}
	near, far := net.Pipe()
	m.servers = append(m.servers, far)
	m.accept <- far
	return near, nil
}

func (m *memory) setRefuse(refuse bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse = refuse
}

// cut breaks every connection.
func (m *memory) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.servers {
		c.Close()
	}
	m.servers = nil
}
