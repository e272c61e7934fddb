package httpapi

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// gatewayConn is a connection to a real server of node's /gateway. said is what
// net/http logged, once the server is closed.
func gatewayConn(t *testing.T, node Node) (conn net.Conn, answers *bufio.Reader, said func() string) {
	t.Helper()
	var logged bytes.Buffer
	s := httptest.NewUnstartedServer(nil)
	s.Config = NewServer(New(Options{Node: node}).Handler(), slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	s.Start()
	t.Cleanup(s.Close)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn), func() string {
		_ = conn.Close()
		s.Close()
		return logged.String()
	}
}

// send writes text to a server.
func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// wantAnswer reads an answer of the given status, whose length is in its head.
func wantAnswer(t *testing.T, from *bufio.Reader, status int) {
	t.Helper()
	answer, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status || answer.ContentLength != int64(len(body)) || (status == http.StatusOK) != (len(body) == 0) {
		t.Errorf("status %d, %d bytes announced, body %q, %v", answer.StatusCode, answer.ContentLength, body, err)
	}
}

// bodies are ways to send a body after the head of a request to /gateway.
var bodies = []struct{ why, head, body string }{
	{"announced", "Content-Length: 5000\r\n", strings.Repeat("b", 5000)},
	{"chunked", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n"},
	{"empty", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n"},
}

// A slow client's body keeps no gateway waiting, and a gateway goes on with its
// connection after a request with a body.
func TestGatewayDoesNotWaitForABody(t *testing.T) {
	t.Parallel()
	open := policy.Policy{Name: "api", Limits: bucket("", 5)}
	for _, tt := range bodies {
		for _, node := range []struct {
			*fakeNode
			status int
		}{{newFake(t, open), http.StatusOK}, {denied(t, open), http.StatusTooManyRequests}} {
			t.Run(fmt.Sprintf("%s %d", tt.why, node.status), func(t *testing.T) {
				t.Parallel()
				conn, answers, said := gatewayConn(t, node)
				head := "POST /gateway/x HTTP/1.1\r\nHost: x\r\n" + tt.head + "\r\n"
				for range 3 {
					send(t, conn, head)
					wantAnswer(t, answers, node.status)
					send(t, conn, tt.body)
					send(t, conn, head+tt.body) // all at once
					wantAnswer(t, answers, node.status)
				}
				if text := said(); text != "" {
					t.Errorf("logged: %s", text)
				}
			})
		}
	}
}

// A client that would be told when to send its body is told not to, and may
// send it all the same.
func TestGatewayAnswersExpectations(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "hello"} {
		conn, answers, said := gatewayConn(t, newFake(t))
		send(t, conn, "POST /gateway HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
		wantAnswer(t, answers, http.StatusOK)
		send(t, conn, body)
		if text := said(); text != "" {
			t.Errorf("logged: %s", text)
		}
	}
}

// What follows a body that is malformed or too large to be read is nobody's
// request.
func TestGatewayHangsUpAfterABrokenBody(t *testing.T) {
	t.Parallel()
	for why, rest := range map[string]string{
		"broken":    "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"too large": "Content-Length: 1000000\r\n\r\n",
	} {
		node := newFake(t)
		conn, answers, said := gatewayConn(t, node)
		send(t, conn, "POST /gateway HTTP/1.1\r\nHost: x\r\n"+rest)
		wantAnswer(t, answers, http.StatusOK)
		_, _ = io.WriteString(conn, "POST /gateway HTTP/1.1\r\nHost: x\r\n\r\n") // may be closed already
		if left, _ := io.ReadAll(answers); len(left) > 0 {
			t.Errorf("%s: more answers: %s", why, left)
		}
		if text := said(); text != "" || len(node.asked) != 1 {
			t.Errorf("%s: asked %d times, logged: %s", why, len(node.asked), text)
		}
	}
}
