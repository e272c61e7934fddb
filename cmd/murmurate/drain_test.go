package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// load is what a number of clients do, each as fast as it is answered, until
// their connections are refused.
type load struct {
	addr   string
	reuse  bool // send requests on one connection until it is to be closed
	warm   sync.WaitGroup
	ending sync.WaitGroup

	answered, parted, notReady atomic.Int64
	lost                       chan error // what ended a client before its time
}

// loadClients are those of a load: one looks at readiness, the others check.
const loadClients = 16

// startLoad sets the clients on addr; warm is done once each has been
// answered, and ending once all have ended.
func startLoad(addr string, reuse bool) *load {
	l := &load{addr: addr, reuse: reuse, lost: make(chan error, loadClients)}
	l.warm.Add(loadClients)
	for i := range loadClients {
		request := fmt.Sprintf("POST /v1/check HTTP/1.1\r\nHost: node\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		if i == 0 {
			request = "GET /readyz HTTP/1.1\r\nHost: node\r\n\r\n"
		}
		l.ending.Go(func() {
			warm := sync.OnceFunc(l.warm.Done)
			defer warm()
			for {
				switch err := l.connect(request, warm); {
				case errors.Is(err, syscall.ECONNREFUSED):
					return
				case err != nil:
					l.lost <- err
					return
				}
			}
		})
	}
	return l
}

// connect opens a connection, and sends request on it once, or with reuse
// until it is to be closed.
func (l *load) connect(request string, answered func()) error {
	conn, err := net.DialTimeout("tcp", l.addr, patience)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // all that was sent is answered
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	for answers, parting := bufio.NewReader(conn), false; !parting; {
		if _, err := conn.Write([]byte(request)); err != nil {
			return fmt.Errorf("sending: %w", err)
		}
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			return fmt.Errorf("waiting for the answer: %w", err)
		}
		if err := response.Body.Close(); err != nil { // reads to its end
			return fmt.Errorf("reading the answer: %w", err)
		}
		l.count(response)
		answered()
		parting = response.Close || !l.reuse
	}
	return nil
}

func (l *load) count(response *http.Response) {
	l.answered.Add(1)
	if response.Close {
		l.parted.Add(1)
	}
	if response.StatusCode == http.StatusServiceUnavailable {
		l.notReady.Add(1)
	}
}

// A node that ends under load answers all that it is asked, on connections
// that it knew and on those that came while it drained, and says that it
// parts.
func TestDrainUnderLoadLosesNothing(t *testing.T) {
	t.Parallel()
	for name, reuse := range map[string]bool{"a connection for each request": false, "connections kept alive": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startTestDaemon(t, "")
			l := startLoad(d.http.Addr().String(), reuse)
			l.warm.Wait()
			d.drain()
			l.ending.Wait()
			close(l.lost)
			for err := range l.lost {
				t.Errorf("after %d answers: %v", l.answered.Load(), err)
			}
			if l.parted.Load() == 0 || l.notReady.Load() == 0 {
				t.Errorf("of %d answers, %d announced the end and %d said not ready, want some of each",
					l.answered.Load(), l.parted.Load(), l.notReady.Load())
			}
		})
	}
}

// Connections that nobody has accepted when the listener stops are answered
// too; later ones are refused.
func TestStopTakesInWhoIsQueued(t *testing.T) {
	t.Parallel()
	const queued = 20
	l, err := listenHTTP(t.Context(), anyPort, "--http")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	conns := make([]net.Conn, queued)
	for i := range conns {
		if conns[i], err = net.DialTimeout("tcp", addr, patience); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conns[i].Close() }()
	}
	f := newFront(slog.New(slog.DiscardHandler))
	f.serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), nil)
	if err := f.stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, conn := range conns {
		if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: node\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		_ = response.Body.Close()
	}
	if _, err := net.DialTimeout("tcp", addr, patience); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a connection after the end: %v, want it refused", err)
	}
	if err := f.shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLingerEndsWithTheRequests(t *testing.T) {
	t.Parallel()
	const silence = silentParts * silentPart
	for name, test := range map[string]struct {
		requests int // one each silence/2
		want     time.Duration
	}{
		"idle":           {0, silence},
		"requests cease": {4, 4*silence/2 + silence},
		"requests go on": {1000, lingerWithin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &daemon{arrived: make(chan struct{}, 1)}
				d.draining.Store(true)
				ctx, cancel := context.WithTimeout(t.Context(), lingerWithin)
				defer cancel()
				answer := d.parting(http.NotFoundHandler())
				go func() {
					for range test.requests {
						select {
						case <-time.After(silence / 2):
							answer.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
						case <-ctx.Done():
							return
						}
					}
				}()
				began := time.Now()
				err := d.linger(ctx)
				if took := time.Since(began); err != nil || took < test.want-silentPart || took > test.want {
					t.Errorf("%v after %v, want no error after %v", err, took, test.want)
				}
			})
		})
	}
}
