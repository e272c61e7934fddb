package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/murmurate/murmurate/httpapi"
)

// limited serves app on loopback behind a middleware, over TLS and with
// HTTP/2 if h2.
func limited(t *testing.T, h2 bool, limit int64, app http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(httpapi.Middleware(alone(t, bucket("api", limit)), byKey)(app))
	if h2 {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, s *httptest.Server) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// scenario 40: a hijacked, a flushed, a streamed and an HTTP/2 answer work as
// without the middleware, and carry the fields once.
func TestHijack(t *testing.T) {
	t.Parallel()
	s := limited(t, false, 2, func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		line, err := buffered.ReadString('\n')
		if err != nil {
			t.Error(err)
		}
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nRateLimit: %s\r\n\r\necho %s", w.Header().Get("RateLimit"), line)
	})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(answer); !strings.Contains(got, `"api";r=1;t=1800`) || !strings.HasSuffix(got, "echo hello\n") {
		t.Errorf("got %q", got)
	}
}

// Each event arrives before the next one is sent.
func TestFlushedStream(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP/2 %v", h2), func(t *testing.T) {
			t.Parallel()
			received := make(chan struct{})
			s := limited(t, h2, 2, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				control := http.NewResponseController(w)
				for i := range 3 {
					_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
					if i == 0 {
						w.(http.Flusher).Flush()
					} else if err := control.Flush(); err != nil {
						t.Error(err)
					}
					select {
					case <-received:
					case <-r.Context().Done():
						return
					}
				}
			})
			answer := get(t, s)
			if answer.ProtoMajor == 2 != h2 || len(answer.Header.Values("RateLimit")) != 1 {
				t.Errorf("%s, RateLimit %q", answer.Proto, answer.Header.Values("RateLimit"))
			}
			lines := bufio.NewScanner(answer.Body)
			for i := range 3 {
				for lines.Scan() && lines.Text() == "" {
				}
				if want := fmt.Sprintf("data: %d", i); lines.Text() != want {
					t.Fatalf("got %q, want %q (%v)", lines.Text(), want, lines.Err())
				}
				received <- struct{}{}
			}
		})
	}
}

// What only the server's own ResponseWriter can do, works.
func TestResponseController(t *testing.T) {
	t.Parallel()
	s := limited(t, false, 2, func(w http.ResponseWriter, _ *http.Request) {
		control := http.NewResponseController(w)
		if err := control.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		if _, ok := w.(io.ReaderFrom); !ok {
			t.Error("the ResponseWriter has lost its ReadFrom")
		}
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Trailer", "Sum")
		_, _ = io.WriteString(w, "body")
		w.Header().Set("Sum", "4")
	})
	answer := get(t, s)
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != "body" || answer.Trailer.Get("Sum") != "4" {
		t.Errorf("got %q, trailer %v, %v", body, answer.Trailer, err)
	}
	if len(answer.Header.Values("RateLimit")) != 1 || answer.Trailer.Get("RateLimit") != "" {
		t.Errorf("header %v, trailer %v", answer.Header, answer.Trailer)
	}
}

func TestDenialOverHTTP2(t *testing.T) {
	t.Parallel()
	s := limited(t, true, 1, ok)
	for i, want := range []int{200, 429} {
		answer := get(t, s)
		if answer.StatusCode != want || answer.ProtoMajor != 2 || len(answer.Header.Values("RateLimit")) != 1 {
			t.Errorf("request %d: got %s %d with %v", i+1, answer.Proto, answer.StatusCode, answer.Header)
		}
	}
}

// scenario 48: a request is decided before its body is there.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 1)
	s := limited(t, false, 1, func(w http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(body)
	})
	const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, head+"b"); err != nil {
		t.Fatal(err)
	}
	<-reached // with three quarters of the body still to come
	if _, err := io.WriteString(conn, "ody"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(answer), "\r\n\r\nbody") {
		t.Errorf("got %q, %v", answer, err)
	}

	conn, err = net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil) // without a byte of the body
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusTooManyRequests {
		t.Errorf("got %d", answer.StatusCode)
	}
}

func TestParallelRequestsAreCountedExactly(t *testing.T) {
	t.Parallel()
	const limit, requests = 100, 1000
	var reached atomic.Int64
	s := limited(t, false, limit, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	client := s.Client()
	client.Transport.(*http.Transport).MaxConnsPerHost = 50 // of the file descriptors, not of the requests
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 50
	var status [600]atomic.Int64
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
			if err != nil {
				t.Error(err)
				return
			}
			answer, err := client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			_, _ = io.Copy(io.Discard, answer.Body)
			status[answer.StatusCode].Add(1)
		})
	}
	all.Wait()
	if got := status[200].Load(); got != limit || reached.Load() != limit || status[429].Load() != requests-limit {
		t.Errorf("%d admitted, %d reached the handler, %d denied", got, reached.Load(), status[429].Load())
	}
}

// Of two policies the narrow one admits what it can, however the requests
// come between each other's questions and charges.
func TestParallelRequestsOfTwoPolicies(t *testing.T) {
	t.Parallel()
	const limit, requests = 100, 1000
	node := alone(t, bucket("broad", 2*requests), bucket("narrow", limit))
	var reached atomic.Int64
	h := httpapi.Middleware(node, byKey)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	var all sync.WaitGroup
	for range requests {
		all.Go(func() { send(h) })
	}
	all.Wait()
	if got := reached.Load(); got != limit {
		t.Errorf("%d were admitted, want %d", got, limit)
	}
}
