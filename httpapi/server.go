package httpapi

import (
	"log/slog"
	"net/http"
	"time"
)

const (
	// readHeaderTimeout ends who sends a request's head drop by drop.
	readHeaderTimeout = 5 * time.Second
	// readTimeout ends who does so with the body.
	readTimeout = 20 * time.Second
	// writeTimeout ends who does not read the answer. It runs from the end
	// of the head, so it covers the reading of the body too.
	writeTimeout = 40 * time.Second
	// idleTimeout is longer than that of the usual proxies (60 s): a proxy
	// that reuses a connection just as the server closes it fails a request.
	idleTimeout = 2 * time.Minute
	// maxHeaderBytes is room for the longest key in a path, escaped, several
	// times over.
	maxHeaderBytes = 32 << 10
)

// NewServer returns a server of h with bounds on what a client may take its
// time with. What it has to say of broken connections goes to log; clients
// can provoke that at any rate, so it is at level debug. The caller listens,
// and sets what else it wants.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
	}
}
