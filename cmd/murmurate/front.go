package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/murmurate/murmurate/httpapi"
)

// front serves HTTP on one or more listeners. The zero value is not usable;
// see newFront.
type front struct {
	servers   []*http.Server
	listeners []*listener
	running   sync.WaitGroup
	failed    chan error // delivers the first listener that broke
	log       *slog.Logger
}

func newFront(log *slog.Logger) *front { return &front{failed: make(chan error, 1), log: log} }

// serve answers on l with h until shutdown, over TLS if config is not nil.
func (f *front) serve(l *listener, h http.Handler, config *tls.Config) {
	server := httpapi.NewServer(h, f.log)
	server.TLSConfig = config
	f.servers, f.listeners = append(f.servers, server), append(f.listeners, l)
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

// stop takes in who is connected already, and closes the listeners. When ctx
// ends it closes them all the same.
func (f *front) stop(ctx context.Context) error {
	var errs []error
	for _, l := range f.listeners {
		errs = append(errs, l.stop())
	}
	defer context.AfterFunc(ctx, func() {
		for _, l := range f.listeners {
			_ = l.Close() // may have ended by itself
		}
	})()
	f.running.Wait()
	return errors.Join(append(errs, ctx.Err())...)
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
