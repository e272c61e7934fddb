// Service is an HTTP service that runs as several instances and limits each
// API key over all of them. Every instance embeds a node; they find each
// other by -join.
//
//	go run ./examples/service -name a
//	go run ./examples/service -name b -listen 127.0.0.1:8081 -gossip 127.0.0.1:7391 -peer 127.0.0.1:7392 -join 127.0.0.1:7381
//	curl -i -H 'X-Api-Key: alice' localhost:8080/hello
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

type flags struct{ listen, name, gossip, peer, join, rate string }

func main() {
	var f flags
	flag.StringVar(&f.listen, "listen", "127.0.0.1:8080", "address to serve on")
	flag.StringVar(&f.name, "name", "", "name of this instance in the cluster")
	flag.StringVar(&f.gossip, "gossip", murmurate.DefaultGossip, "address for membership traffic")
	flag.StringVar(&f.peer, "peer", murmurate.DefaultPeer, "address for checks of other instances")
	flag.StringVar(&f.join, "join", "", "gossip addresses of other instances, separated by commas")
	flag.StringVar(&f.rate, "rate", "100/min", "requests per period that each API key may make")
	flag.Parse()

	if err := run(f); err != nil {
		log.Fatal(err)
	}
}

// run serves until SIGTERM, and then lets others take over.
func run(f flags) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	node, err := startNode(ctx, f)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: routes(node), ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Printf("serving on %s, gossip on %s\n", listener.Addr(), node.GossipAddr())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(
		node.Drain(ending),      // others own its keys from here on, and it asks them
		server.Shutdown(ending), // requests under way end
		node.Close(ending),
	)
}

func startNode(ctx context.Context, f flags) (*murmurate.Node, error) {
	rate, err := policy.ParseRate(f.rate)
	if err != nil {
		return nil, fmt.Errorf("-rate %q: %w", f.rate, err)
	}
	set, err := policy.NewSet(policy.Policy{Name: "api", Limits: []limiter.Limit{limiter.Per(rate.Count, rate.Length)}})
	if err != nil {
		return nil, err
	}
	var join []string
	if f.join != "" {
		join = strings.Split(f.join, ",")
	}
	return murmurate.Start(ctx, murmurate.Options{
		Name: f.name, Gossip: f.gossip, Peer: f.peer, Join: join, Policies: set,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// routes is the service: /hello is limited, /healthz is not.
func routes(node *murmurate.Node) http.Handler {
	limit := httpapi.Middleware(node, httpapi.ByHeader("X-Api-Key"), httpapi.WithPolicy("api"))
	mux := http.NewServeMux()
	mux.Handle("GET /hello", limit(http.HandlerFunc(hello)))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if !node.Readiness().Ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	return mux
}

func hello(w http.ResponseWriter, r *http.Request) {
	if d, ok := httpapi.DecisionFrom(r.Context()); ok {
		_, _ = fmt.Fprintf(w, "hello, %d left\n", d.Remaining)
	}
}
