package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/config"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/observe"
)

// readyPoll is how often a starting node is asked whether it is ready.
const readyPoll = 20 * time.Millisecond

// adminSetting gives administration a listener of its own.
const adminSetting = "http.admin_listen"

// daemon is a node with its HTTP listeners, from start to end.
type daemon struct {
	cfg          *config.Config // that the node was started with
	log          *slog.Logger
	node         *murmurate.Node
	certificates *certificates // nil: plain HTTP
	http         *listener
	admin        *listener // nil: administration is answered on http
	front        *front
	metrics      *observe.Metrics
	reloads      reloads
	draining     atomic.Bool
	arrived      chan struct{} // holds one if a request came while draining
}

// startDaemon binds the listeners, starts the node and answers checks. HTTP
// is bound first, so that an address in use is found before anybody hears of
// the node.
func startDaemon(ctx context.Context, cfg *config.Config, log *slog.Logger) (_ *daemon, err error) {
	certificates, err := newCertificates(cfg.ServerPEM())
	if err != nil {
		return nil, err
	}
	client, err := clientAddress(&cfg.HTTP)
	if err != nil {
		return nil, err
	}
	options, err := nodeOptions(cfg, log)
	if err != nil {
		return nil, err
	}
	d := &daemon{cfg: cfg, log: log, certificates: certificates, front: newFront(log), arrived: make(chan struct{}, 1)}
	d.reloads.succeeded(time.Now())
	defer func() {
		if err != nil {
			d.unbind()
		}
	}()
	if d.http, err = listenHTTP(ctx, cfg.HTTP.Listen, "http.listen or --http"); err != nil {
		return nil, err
	}
	if cfg.HTTP.AdminListen != "" {
		if d.admin, err = listenHTTP(ctx, cfg.HTTP.AdminListen, adminSetting); err != nil {
			return nil, err
		}
	}
	node, metrics, err := startObserved(ctx, options, observe.Options{
		Reload: d.reloads.metric, WithoutAddress: client.Unknown, Unheeded: client.Unheeded,
	})
	if err != nil {
		return nil, err
	}
	d.node, d.metrics = node, metrics
	api := httpapi.New(httpapi.Options{
		Node:      node,
		Client:    client,
		Cluster:   clusterOf(node),
		Evict:     evictFrom(node),
		Explain:   node.Explain,
		Overrides: overridesOf{node},
		Ready:     d.readiness,
		Metrics:   metrics.Handler(),
		Fields:    headerFields(&cfg.HTTP),
		Tokens:    cfg.HTTP.AuthTokens,
		OpenAdmin: isLoopback(d.adminListener().Addr()),
		Logger:    log,
	})
	if d.admin == nil {
		d.front.serve(d.http, d.parting(api.Handler()), certificates.config())
		return d, nil
	}
	d.front.serve(d.http, d.parting(api.Public()), certificates.config())
	d.front.serve(d.admin, d.parting(api.Handler()), certificates.config())
	return d, nil
}

// unbind closes the listeners of a daemon that did not start.
func (d *daemon) unbind() {
	for _, l := range []*listener{d.http, d.admin} {
		if l != nil {
			_ = l.Close() // nothing was accepted on it
		}
	}
}

func (d *daemon) adminListener() *listener {
	if d.admin != nil {
		return d.admin
	}
	return d.http
}

// parting makes clients reconnect elsewhere while the node drains, and notes
// that they are still there. A client that reuses its connection just as the
// server closes it would see its check fail.
func (d *daemon) parting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.draining.Load() {
			w.Header().Set("Connection", "close")
			select {
			case d.arrived <- struct{}{}:
			default: // nobody has looked since the last one
			}
		}
		next.ServeHTTP(w, r)
	})
}

// run reports readiness once, and returns when a signal or a failure has
// ended the daemon.
func (d *daemon) run(signals <-chan os.Signal, ready func(readyLine)) error {
	poll := time.NewTicker(readyPoll)
	defer poll.Stop()
	for {
		select {
		case <-poll.C:
			if r := d.readiness(); r.Ready {
				poll.Stop()
				ready(newReadyLine(r))
			}
		case s := <-signals:
			d.log.Info("draining", "signal", s.String())
			return d.end(signals)
		case err := <-d.node.Failed():
			return errors.Join(err, d.end(signals))
		case err := <-d.front.failed:
			return errors.Join(err, d.end(signals))
		}
	}
}

// readiness is that of the node. A configuration that cannot be used is no
// reason not to be ready: the one before it is in force.
func (d *daemon) readiness() httpapi.Readiness {
	r := readiness(d.node, d.draining.Load())
	r.Conditions = append(r.Conditions, d.reloads.condition())
	return r
}

func (d *daemon) scheme() string {
	if d.cfg.HTTP.TLS.Cert != "" {
		return "https"
	}
	return "http"
}

// url is where checks are answered.
func (d *daemon) url() string { return d.scheme() + "://" + d.http.Addr().String() }

// listening lists what the daemon listens on.
func (d *daemon) listening() []listening {
	list := []listening{{"http", d.url()}}
	if d.admin != nil {
		list = append(list, listening{"admin", d.scheme() + "://" + d.admin.Addr().String()})
	}
	return append(list,
		listening{"gossip", d.node.GossipAddr().String()},
		listening{"peer", d.node.PeerAddr().String()})
}

// listening is one listener, as serve prints it.
type listening struct {
	Listener string `json:"listener"`
	Address  string `json:"address"`
}

func (l listening) text(w *strings.Builder) { fmt.Fprintf(w, "%-7s %s\n", l.Listener, l.Address) }
