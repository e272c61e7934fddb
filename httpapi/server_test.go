package httpapi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newServer serves h on loopback with the bounds of NewServer.
func newServer(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.Config = NewServer(h, slog.New(slog.DiscardHandler))
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// pipes is a listener of connections inside the process.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.IPAddr{} }

// A client that stops in the middle of the head, of the body, or between two
// requests is let go after the bound of each (scenario 48).
func TestSlowClientsAreEnded(t *testing.T) {
	t.Parallel()
	const request = "POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 26\r\n\r\n"
	tests := []struct {
		why, sent string
		after     time.Duration
	}{
		{"head", "POST /v1/check HTTP/1.1\r\nHost:", readHeaderTimeout},
		{"body", request + `{"policy":"api"`, readTimeout},
		{"idle", request + `{"policy":"api","key":"a"}`, idleTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				listener := &pipes{make(chan net.Conn), make(chan struct{})}
				server := NewServer(New(Options{Node: newFake(t, api())}).Handler(), slog.New(slog.DiscardHandler))
				served := make(chan error, 1)
				go func() { served <- server.Serve(listener) }()
				client, conn := net.Pipe()
				listener.conns <- conn

				began := time.Now()
				if _, err := io.WriteString(client, tt.sent); err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, client); err != nil { // until the server hangs up
					t.Error(err)
				}
				// A connection that is hung up on in mid-request lingers for half a second.
				if took := time.Since(began); took < tt.after || took > tt.after+time.Second {
					t.Errorf("ended after %v, want %v", took, tt.after)
				}
				if err := server.Close(); err != nil {
					t.Error(err)
				}
				if err := <-served; !errors.Is(err, http.ErrServerClosed) {
					t.Error(err)
				}
			})
		})
	}
}

// What net/http itself refuses must not reach the node either.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	node := newFake(t, api())
	server := newServer(t, New(Options{Node: node, OpenAdmin: true}).Handler())
	tests := []struct {
		why, line, header string
		status            int
	}{
		{"bad escape", "DELETE /v1/keys/api/%zz", "", 400},
		{"cut escape", "DELETE /v1/keys/api/a%4", "", 400},
		{"large head", "DELETE /v1/keys/api/a", "X-Padding: " + strings.Repeat("x", 2*maxHeaderBytes) + "\r\n", 431},
		{"long path", "DELETE /v1/keys/api/" + strings.Repeat("k", 2*maxHeaderBytes), "", 431},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\n%s\r\n", tt.line, tt.header)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != tt.status || len(node.resets) != 0 {
				t.Errorf("status %d, resets %q, want status %d", response.StatusCode, node.resets, tt.status)
			}
		})
	}
}
