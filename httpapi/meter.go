package httpapi

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// meter is a ResponseWriter that knows what went through it.
type meter struct {
	http.ResponseWriter
	status int // 0: nothing was sent
	bytes  int64
}

// writer is what the handler gets. Only a server's writer that can be
// hijacked makes one that looks as if it could.
func (m *meter) writer() http.ResponseWriter {
	if _, ok := m.ResponseWriter.(http.Hijacker); ok {
		return hijackableMeter{m}
	}
	return m
}

// WriteHeader notes the status, but for those of which others follow.
func (m *meter) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		m.sends(status)
	}
	m.ResponseWriter.WriteHeader(status)
}

// sends notes the first status that is sent.
func (m *meter) sends(status int) {
	if m.status == 0 {
		m.status = status
	}
}

func (m *meter) Write(p []byte) (int, error) {
	m.sends(http.StatusOK)
	n, err := m.ResponseWriter.Write(p)
	m.bytes += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom, so that a file can go to a socket
// without passing through this process.
func (m *meter) ReadFrom(src io.Reader) (int64, error) {
	m.sends(http.StatusOK)
	n, err := io.Copy(m.ResponseWriter, src)
	m.bytes += n
	return n, err
}

// Flush implements http.Flusher.
func (m *meter) Flush() { _ = m.FlushError() }

// FlushError is what http.ResponseController calls.
func (m *meter) FlushError() error {
	m.sends(http.StatusOK)
	return http.NewResponseController(m.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (m *meter) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// hijackableMeter is the meter of a connection that the handler can take over.
type hijackableMeter struct{ *meter }

// Hijack implements http.Hijacker.
func (m hijackableMeter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := m.ResponseWriter.(http.Hijacker).Hijack()
	if err == nil {
		m.sends(http.StatusSwitchingProtocols)
	}
	return conn, buffered, err
}
