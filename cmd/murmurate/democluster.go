package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/config"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/observe"
)

const (
	// anyPort takes a free port on loopback.
	anyPort = "127.0.0.1:0"
	// demoSettles bounds the time that the nodes take to find each other.
	demoSettles = 15 * time.Second
	// demoEnds bounds the end of the demo.
	demoEnds = 3 * time.Second
)

// demoCluster are the nodes of the demo. It is used by one goroutine.
type demoCluster struct {
	members []*demoMember
}

// demoMember is one node of the demo, and the sample traffic that it got.
type demoMember struct {
	node   *murmurate.Node
	front  *front
	server string // base URL
	tally  tally  // since the last second was shown
}

// add starts one more node, joins it to the first, and answers HTTP on l,
// which it takes over.
func (c *demoCluster) add(ctx context.Context, l *listener) (err error) {
	defer func() {
		if err != nil {
			_ = l.Close() // nothing was accepted on it
		}
	}()
	policies, err := demoPolicies()
	if err != nil {
		return err
	}
	options := murmurate.Options{
		Name:     fmt.Sprintf("demo-%d", len(c.members)+1),
		Gossip:   anyPort,
		Peer:     anyPort,
		Policies: policies,
	}
	if len(c.members) > 0 {
		options.Join = []string{c.members[0].node.GossipAddr().String()}
	}
	node, metrics, err := startObserved(ctx, options, observe.Options{})
	if err != nil {
		return err
	}
	m := &demoMember{node: node, front: newFront(slog.New(slog.DiscardHandler)), server: "http://" + l.Addr().String()}
	m.front.serve(l, httpapi.New(httpapi.Options{
		Node:      node,
		Cluster:   clusterOf(node),
		Explain:   node.Explain,
		Ready:     func() httpapi.Readiness { return readiness(node, false) },
		Metrics:   metrics.Handler(),
		Fields:    headerFields(&config.Default().HTTP),
		OpenAdmin: true, // on loopback
	}).Handler(), nil)
	c.members = append(c.members, m)
	return nil
}

// listenDemo binds the HTTP address of node i. The first node takes addr, or
// without one the usual address if that is free, so that the other commands
// find it without --server.
func listenDemo(ctx context.Context, i int, addr string) (*listener, error) {
	if i == 0 && addr != "" {
		return listenHTTP(ctx, addr, "--http")
	}
	if i == 0 {
		if l, err := listenHTTP(ctx, config.Default().HTTP.Listen, "--http"); err == nil {
			return l, nil
		}
	}
	return listenHTTP(ctx, anyPort, "--http")
}

// settle waits until all nodes agree on who counts what, so that no counter
// changes hands under the traffic.
func (c *demoCluster) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, demoSettles)
	defer cancel()
	poll := time.NewTicker(readyPoll)
	defer poll.Stop()
	for !c.settled() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the %d nodes did not find each other: %w", len(c.members), ctx.Err())
		case <-poll.C:
		}
	}
	return nil
}

func (c *demoCluster) settled() bool {
	for _, m := range c.members {
		if !m.node.Readiness().Ready || len(m.node.Members()) != len(c.members) || m.node.Digest() != c.members[0].node.Digest() {
			return false
		}
	}
	return true
}

func (c *demoCluster) welcome() demoWelcome {
	var w demoWelcome
	for _, m := range c.members {
		w.Servers = append(w.Servers, m.server)
	}
	return w
}

// second is what happened since the last call.
func (c *demoCluster) second() demoSecond {
	var s demoSecond
	for _, m := range c.members {
		s.Members = append(s.Members, demoLine{Name: m.node.Name(), Server: m.server, Keys: m.node.Keys(), tally: m.tally})
		m.tally = tally{}
	}
	return s
}

// close ends all nodes at once. Nothing is to be handed over: the cluster
// ends as a whole.
func (c *demoCluster) close() {
	ctx, cancel := context.WithTimeout(context.Background(), demoEnds)
	defer cancel()
	var ending sync.WaitGroup
	for _, m := range c.members {
		ending.Go(func() {
			_ = m.front.shutdown(ctx) // what is cut off here was asked of a demo
			_ = m.node.Close(ctx)
		})
	}
	ending.Wait()
}
