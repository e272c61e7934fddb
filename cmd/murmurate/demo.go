package main

import (
	"context"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

const (
	demoNodes    = 3
	maxDemoNodes = 20
)

func newDemo(sh *shell) *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a whole cluster in this process, with sample traffic",
		Long: `Demo runs several nodes in one process on loopback, joined by real gossip, and
sends them sample traffic: a few clients that ask for far too much, and many that
do not. Each second it prints what the nodes allowed and denied. Any node may be
asked with curl or with the other commands meanwhile.`,
		Example: `  murmurate demo
  murmurate demo --nodes 5 --duration 30s`,
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			if o.nodes < 1 || o.nodes > maxDemoNodes {
				return usagef("--nodes must be 1 to %d, got %d", maxDemoNodes, o.nodes)
			}
			if o.duration < 0 {
				return usagef("--duration must not be negative, got %v", o.duration)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return sh.demo(ctx, o)
		}),
	}
	cmd.Flags().IntVar(&o.nodes, "nodes", demoNodes, "`N` nodes to run")
	cmd.Flags().DurationVar(&o.duration, "duration", 0, "end after `TIME`, such as 30s; 0 runs until interrupted")
	cmd.Flags().StringVar(&o.http, "http", "", "answer HTTP on the first node on `ADDR` (default 127.0.0.1:7380 if that is free)")
	return cmd
}

// demoOptions are the flags of demo.
type demoOptions struct {
	nodes    int
	duration time.Duration // 0: until interrupted
	http     string        // of the first node; empty: the usual address if it is free
}

// demo runs a cluster until ctx or the duration ends.
func (sh *shell) demo(ctx context.Context, o demoOptions) error {
	c := &demoCluster{}
	defer c.close()
	for i := range o.nodes {
		l, err := listenDemo(ctx, i, o.http)
		if err != nil {
			return err
		}
		if err := c.add(ctx, l); err != nil {
			return err
		}
	}
	switch err := c.settle(ctx); {
	case ctx.Err() != nil:
		return nil // interrupted
	case err != nil:
		return err
	}
	if err := sh.print(c.welcome()); err != nil {
		return err
	}
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	return sh.drive(ctx, c)
}

// drive sends the sample traffic, and prints each second what came of it.
func (sh *shell) drive(ctx context.Context, c *demoCluster) error {
	checks := time.NewTicker(time.Second / demoRate)
	defer checks.Stop()
	seconds := time.NewTicker(time.Second)
	defer seconds.Stop()
	lines := newDisplay(sh)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-checks.C:
			member := c.members[pick(len(c.members))]
			member.tally.sample(ctx, member.node)
		case <-seconds.C:
			if err := lines.show(c.second()); err != nil {
				return err
			}
		}
	}
}

// demoWelcome is the first thing that demo prints.
type demoWelcome struct {
	Servers []string `json:"servers"`
}

func (d demoWelcome) text(w *strings.Builder) {
	first := d.Servers[0]
	fmt.Fprintf(w, `%d nodes in one process. %d checks a second: half from %d clients that want too
much, half from %d that do not. The policy %q grants each %d a second.

Try in another shell, with any of the servers below:
  %s
  murmurate members --server %s
  murmurate ring --key me --server %s
Ctrl-C ends the demo.

`, len(d.Servers), demoRate, demoHeavy, demoLight, demoPolicy, demoPerKey, curlHint(first), first, first)
}

// curlHint is a command line that asks server.
func curlHint(server string) string {
	return fmt.Sprintf(`curl -i %s/v1/check -d '{"policy":"default","key":"me"}'`, server)
}
