package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// A listener that is to stop waits for one more connection as long as a
// handshake that has begun may take to be completed. It does so more than
// once: where the processor is busy, the time can be over before Accept has
// looked into the queue.
const (
	lastCall  = 50 * time.Millisecond
	lastCalls = 3
)

// listener is a listener that can stop without turning anybody away. Close
// alone resets the connections that the kernel has completed and nobody has
// accepted yet, and their clients have sent requests by then.
type listener struct {
	*net.TCPListener
	stopping atomic.Bool
}

// Accept waits for the next connection. After stop it fails with
// http.ErrServerClosed, which ends the server in good order, as soon as
// nobody is left.
func (l *listener) Accept() (net.Conn, error) {
	if !l.stopping.Load() {
		conn, err := l.TCPListener.Accept()
		if err == nil || !l.stopping.Load() {
			return conn, err
		}
	}
	for range lastCalls {
		if err := l.SetDeadline(time.Now().Add(lastCall)); err != nil {
			break // closed before its time
		}
		conn, err := l.TCPListener.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, net.ErrClosed) {
			return conn, err
		}
	}
	return nil, http.ErrServerClosed
}

// stop makes Accept fail once it has returned everybody who is connected.
// Who comes later is not answered, and is refused when the listener closes.
// With an error, connections may still come in and be lost at that moment.
func (l *listener) stop() error {
	refused := refuseNew(l.TCPListener)
	l.stopping.Store(true)
	return errors.Join(refused, l.SetDeadline(time.Now())) // wakes an Accept that waits
}

// listenHTTP binds addr. change says what sets the address, for the error.
func listenHTTP(ctx context.Context, addr, change string) (*listener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false) // its sockets cannot refuse connections before they close
	l, err := config.Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("the http address %s is in use by another process: choose another with %s: %w", addr, change, err)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on the http address %s (%s): %w", addr, change, err)
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the http address %s is not one of TCP", addr), l.Close())
	}
	return &listener{TCPListener: tcp}, nil
}
