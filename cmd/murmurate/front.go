package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"

	"github.com/murmurate/murmurate/httpapi"
)

// front serves HTTP on one or more listeners. The zero value is not usable;
// see newFront.
type front struct {
	servers []*http.Server
	running sync.WaitGroup
	failed  chan error // delivers the first listener that broke
}

func newFront() *front { return &front{failed: make(chan error, 1)} }

// serve answers on l with h until shutdown, over TLS if config is not nil.
func (f *front) serve(l net.Listener, h http.Handler, config *tls.Config) {
	server := httpapi.NewServer(h)
	server.TLSConfig = config
	f.servers = append(f.servers, server)
	f.running.Go(func() {
		serve := server.Serve
		if config != nil {
			serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
		}
		if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
			select {
			case f.failed <- fmt.Errorf("serving on %s: %w", l.Addr(), err):
			default: // one reason to end is enough
			}
		}
	})
}

// shutdown closes the listeners, lets the requests in flight end, and cuts
// off those that ctx does not wait for.
func (f *front) shutdown(ctx context.Context) error {
	var errs []error
	for _, server := range f.servers {
		if err := server.Shutdown(ctx); err != nil {
			errs = append(errs, err, server.Close())
		}
	}
	f.running.Wait()
	return errors.Join(errs...)
}

// listenHTTP binds addr. change says what sets the address, for the error.
func listenHTTP(ctx context.Context, addr, change string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("the http address %s is in use by another process: choose another with %s: %w", addr, change, err)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on the http address %s (%s): %w", addr, change, err)
	}
	return l, nil
}
